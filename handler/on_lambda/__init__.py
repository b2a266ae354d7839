"""The front door on AWS Lambda; ``crontick.handler.aws`` is its entry."""
