"""A user's module that cannot be imported, and quotes a password in saying so."""

import os

raise RuntimeError(f"cannot use {os.environ['CRONTICK_DATABASE_URL']}")
