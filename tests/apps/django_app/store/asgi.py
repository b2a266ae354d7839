"""The store, and crontick's routes beside it."""

import os

from django.core.asgi import get_asgi_application

from crontick.handler.wrap import wrap

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "store.settings")
application = wrap(get_asgi_application())
