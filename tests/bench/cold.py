"""An idle tick in a fresh process, beside a bare function that connects and asks one question."""

import os
import statistics
import subprocess
import sys
import time
from typing import Final

__all__ = ["BARE", "IDLE_TICK", "cold_ticks", "environ"]

_EVENT: Final = """
event = {
    "version": "2.0",
    "rawPath": "/cron/tick",
    "rawQueryString": "",
    "headers": {"authorization": "Bearer " + SECRET, "host": "x"},
    "requestContext": {
        "http": {"method": "POST", "path": "/cron/tick", "sourceIp": "127.0.0.1", "protocol": "HTTP/1.1"},
        "stage": "$default",
    },
    "isBase64Encoded": False,
}
"""
BARE: Final = (
    """
import os, psycopg
from mangum import Mangum
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route
SECRET = os.environ["CRON_SECRET"]
async def tick(request):
    async with await psycopg.AsyncConnection.connect(os.environ["CRONTICK_DATABASE_URL"], autocommit=True) as conn:
        row = await (await conn.execute("select 1")).fetchone()
    return JSONResponse({"ran": row[0] == 1})
app = Starlette(routes=[Route("/cron/tick", tick, methods=["POST"])])
"""
    + _EVENT
    + """
answer = Mangum(app, lifespan="off")(event, None)
assert answer["statusCode"] == 200 and '"ran":true' in answer["body"], answer
"""
)
IDLE_TICK: Final = (
    """
import os
from mangum import Mangum
from crontick.handler.asgi import app
SECRET = os.environ["CRON_SECRET"]
"""
    + _EVENT
    + """
answer = Mangum(app, lifespan="off")(event, None)
assert answer["statusCode"] == 200 and '"ran":true' in answer["body"], answer
"""
)


def cold_ticks(url: str, *, rounds: int) -> tuple[float, float]:
    """Median milliseconds of a whole process: the bare function, and an idle tick; in turns."""
    times: list[list[float]] = [[], []]
    for _ in range(rounds + 1):
        for text, results in zip((BARE, IDLE_TICK), times, strict=True):
            started = time.perf_counter()
            subprocess.run([sys.executable, "-c", text], env=environ(url), check=True, stderr=subprocess.PIPE)
            results.append((time.perf_counter() - started) * 1000)
    bare, ours = (statistics.median(results[1:]) for results in times)  # the first of each fills caches
    return bare, ours


def environ(url: str) -> dict[str, str]:
    """What both are told; with compiled bytecode, as an installed package and a built Lambda have it."""
    return {
        **{name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
        "CRONTICK_DATABASE_URL": url,
        "CRONTICK_ENVIRONMENT": "test",
        "CRON_SECRET": "0123456789abcdef" * 2 + "bench",
    }
