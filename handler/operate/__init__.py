"""What operators read and decide, the same behind the API, the page and the command line's ``--url``."""
