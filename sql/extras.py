"""What to type where the libraries of an extra are missing."""


def install(extra: str) -> str:
    """Both ways: from a checkout, the name alone would ask the registry for somebody else's release."""
    return f"pip install 'crontick[{extra}]' (from a checkout: pip install '.[{extra}]')"
