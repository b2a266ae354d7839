"""Where in ``crontick.toml`` something by name stands, for what is found wrong with it after it was read."""

from crontick.jobs import toml_lines
from crontick.jobs.deployment import Deployment

__all__ = ["whereabouts"]


def whereabouts(deployment: Deployment, section: str, name: str, field: str) -> str | None:
    """``crontick.toml:12: schedule.tz``; None where the file has no ``[[section]]`` of that name."""
    path = deployment.settings.config_path
    for nth, table in enumerate(getattr(deployment.config, section)):
        if path is not None and table.name == name:
            line = toml_lines.line_of((section, nth, field), toml_lines.lines(path.read_text("utf-8")))
            return f"{path.name}:{line}: {section}.{field}"
    return None
