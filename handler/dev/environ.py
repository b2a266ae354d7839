"""What the app's process is told: the user's own environment, and in it what ``crontick dev`` provides."""

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from crontick.handler.dev.database import Database
from crontick.handler.dev.folder import Folder

_EMAIL_TABLE: Final = re.compile(r"^[ \t]*\[email\].*?(?=^[ \t]*\[|\Z)", re.MULTILINE | re.DOTALL)
_KEPT: Final = ("from", "templates", "in_doubt", "headers", "attachments")
_DEFAULT_EMAIL: Final = """
[email]
url_env = "SMTP_URL"
from = "crontick dev <dev@localhost>"
"""


def environ_for_app(base: Mapping[str, str], database: Database, folder: Folder, sink_url: str) -> dict[str, str]:
    """``base`` with the secret of this run, the environment's name, the database, and mail that ends in the sink."""
    told = dict(base) | _set("CRON_SECRET", folder.token) | {"CRONTICK_ENVIRONMENT": database.environment}
    if not has_admin(base):
        told["CRONTICK_ADMIN_SECRET"] = folder.admin
    if database.embedded:
        told |= _set("CRONTICK_DATABASE_URL", database.url) | _set("DATABASE_URL", database.url)
        told |= _set("CRONTICK_MIGRATE_URL", "")
    return told | _mail(base, folder, sink_url)


def has_admin(base: Mapping[str, str]) -> bool:
    """Whether the user's own environment says who may see the page."""
    return bool(base.get("CRONTICK_ADMIN_SECRET") or base.get("CRONTICK_ADMIN_SECRET_FROM"))


def _set(name: str, value: str) -> dict[str, str]:
    """The variable, whose value then comes from nowhere else."""
    return {name: value, f"{name}_FROM": ""}


def found_modules(project: Path, app: str | None) -> str:
    """The value for CRONTICK_MODULES when nobody set it: ``background.py`` here, or in the package of the app."""
    package = (app or "").partition(":")[0].partition(".")[0]
    candidates = [f"{package}.background"] if package else []
    for name in [*candidates, "background"]:
        if project.joinpath(*name.split(".")).with_suffix(".py").is_file():
            return name
    return ""


def _mail(base: Mapping[str, str], folder: Folder, sink_url: str) -> dict[str, str]:
    """No mail leaves this machine: whatever variable names the mail server, it names the sink."""
    config = Path(base.get("CRONTICK_CONFIG") or "crontick.toml")
    text = config.read_text("utf-8", errors="replace") if config.is_file() else ""
    try:
        email = tomllib.loads(text).get("email")
    except tomllib.TOMLDecodeError:
        return {}  # the app's process says on which line
    if email is not None:
        if isinstance(email, dict) and email.get("provider", "smtp") != "smtp":
            return _by_smtp(text, email, folder, sink_url)
        name = email.get("url_env") if isinstance(email, dict) else None
        return _set(name, sink_url) if isinstance(name, str) else {}
    completed = folder.path / "crontick.toml"
    completed.write_text(f"{text.rstrip()}\n{_DEFAULT_EMAIL}" if text else _DEFAULT_EMAIL.lstrip(), "utf-8")
    return {"CRONTICK_CONFIG": str(completed), **_set("SMTP_URL", sink_url)}


def _by_smtp(text: str, email: dict[str, Any], folder: Folder, sink_url: str) -> dict[str, str]:
    """The configuration with mail by SMTP in place of a provider's API, whose key the app does not get to know."""
    said: dict[str, Any] = {"url_env": "SMTP_URL", **{name: email[name] for name in _KEPT if name in email}}
    lines = "\n".join(f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in said.items())
    completed = folder.path / "crontick.toml"
    completed.write_text(_EMAIL_TABLE.sub(lambda _: f"[email]\n{lines}\n\n", text, count=1), "utf-8")
    told = {"CRONTICK_CONFIG": str(completed)} | _set("SMTP_URL", sink_url)
    key = email.get("api_key_env")
    if isinstance(key, str):
        told |= _set(key, "")
    return told
