"""Why ``crontick dev`` does not start."""


class DevRefused(Exception):
    """The message names the thing and the mend."""
