"""A Django project in one file, which tells what happened to it."""

import json
from collections.abc import AsyncIterator, Callable

import django
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse, StreamingHttpResponse
from django.urls import path

from crontick.handler import wrap

SEEN: list[str] = []


def seeing(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    def middleware(request: HttpRequest) -> HttpResponseBase:
        SEEN.append(request.path)
        return get_response(request)

    return middleware


def hello(request: HttpRequest) -> HttpResponse:
    name = json.loads(request.body) if request.method == "POST" else ""
    return HttpResponse(f"hello {name}")


def seen(_: HttpRequest) -> JsonResponse:
    return JsonResponse(SEEN, safe=False)


def fails(_: HttpRequest) -> HttpResponse:
    raise RuntimeError("unexpected")


async def _letters() -> AsyncIterator[str]:
    for letter in "abc":
        yield letter


async def stream(_: HttpRequest) -> StreamingHttpResponse:
    return StreamingHttpResponse(_letters())


def handler404(_: HttpRequest, exception: Exception) -> HttpResponse:
    return HttpResponse(f"nobody is here: {type(exception).__name__}", status=404)


urlpatterns = [path(view.__name__, view) for view in (hello, seen, fails, stream)]

settings.configure(
    ALLOWED_HOSTS=["*"],
    MIDDLEWARE=[f"{__name__}.seeing"],
    ROOT_URLCONF=__name__,
    SECRET_KEY="of a test",
)
django.setup()
bare = get_asgi_application()
app = wrap(bare)
