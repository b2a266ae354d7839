"""A length of time as a person reads it."""

from datetime import timedelta


def lasting(length: timedelta) -> str:
    """In its two largest units, such as ``2d 3h``."""
    seconds = max(int(length.total_seconds()), 0)
    parts: list[str] = []
    for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)):
        count, seconds = divmod(seconds, size)
        if count or (unit == "s" and not parts):
            parts.append(f"{count}{unit}")
    return " ".join(parts[:2])


def took(length: timedelta) -> str:
    """The same of what an attempt took, which may be less than a second."""
    seconds = length.total_seconds()
    if seconds >= 60:
        return lasting(length)
    return f"{seconds:.1f} s" if seconds >= 1 else f"{round(seconds * 1000)} ms"
