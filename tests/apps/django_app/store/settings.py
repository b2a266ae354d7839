"""Django's settings; the database is that of DATABASE_URL."""

import os

from psycopg.conninfo import conninfo_to_dict

_PARTS = {"dbname": "NAME", "user": "USER", "password": "PASSWORD", "host": "HOST", "port": "PORT"}


def database(url: str) -> dict[str, object]:
    """A URL as Django takes it."""
    told = conninfo_to_dict(url)
    named = {name: str(told.pop(part, "")) for part, name in _PARTS.items()}
    return {"ENGINE": "django.db.backends.postgresql", **named, "OPTIONS": told}


DATABASES = {"default": database(os.environ.get("DATABASE_URL", ""))}
INSTALLED_APPS = ["orders"]
ROOT_URLCONF = "store.urls"
ALLOWED_HOSTS = ["*"]
SECRET_KEY = os.environ.get("DJANGO_SECRET_KEY", "for tests only")
EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
