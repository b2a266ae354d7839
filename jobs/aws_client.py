"""Calls to AWS through botocore, imported by the first of them, each one attempt that is bounded in time."""

import asyncio
import os
import re
import threading
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from crontick.jobs.in_thread import in_thread
from crontick.sql.extras import install

__all__ = ["AwsError", "call_aws", "region"]

_CONNECT_SECONDS: Final = 2.0
_READ_SECONDS: Final = 5.0
"""Of one read: whoever calls bounds the whole."""
_CODE: Final = re.compile(r"[A-Za-z0-9._:-]{1,64}")
_MENDS: Final = {
    "NoCredentialsError": "there are no credentials: give the process a role, or set AWS_ACCESS_KEY_ID",
    "NoRegionError": "there is no region: set AWS_REGION",
    "EndpointConnectionError": "no connection",
    "ConnectTimeoutError": "no connection in time",
    "ReadTimeoutError": "no answer in time",
    "ConnectionClosedError": "the answer broke off",
    "ParamValidationError": "a parameter is not of the form that AWS documents",
}
_MAKING: Final = threading.Lock()


class AwsError(Exception):
    """The call failed, or nobody knows; the text is in crontick's own words and holds none of AWS's (P31).

    ``code`` is AWS's name of the error, such as ``ConflictException``; empty when AWS did not answer.
    """

    def __init__(self, sentence: str, code: str = "") -> None:
        super().__init__(sentence)
        self.code = code


def region(environ: Mapping[str, str]) -> str | None:
    """The region that this process is in; botocore alone passes over ``AWS_REGION``."""
    return environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION") or None


async def call_aws(
    service: str, operation: str, parameters: Mapping[str, Any], *, seconds: float, region_name: str | None = None
) -> Any:
    """The answer of ``client(service).operation(**parameters)``, within ``seconds`` in all. Raises ``AwsError``.

    ``AWS_REGION`` and ``AWS_ENDPOINT_URL`` are honoured, proxy variables are not. Botocore knows sync calls only:
    each has a daemon thread, which whoever stops waiting leaves behind for its own time-outs to end.
    """

    def call() -> Any:
        client = _client(service, region_name or region(os.environ), os.environ.get("AWS_ENDPOINT_URL"))
        return getattr(client, operation)(**parameters)

    try:
        async with asyncio.timeout(seconds):
            return await in_thread(call, f"aws {service}")
    except TimeoutError:
        raise AwsError(f"no answer in time from {service}") from None
    except Exception as error:  # noqa: BLE001 (botocore's errors are made of data, and imported with it)
        raise _told(error, service) from None


def _client(service: str, region_name: str | None, endpoint_url: str | None) -> Any:
    with _MAKING:  # making one is not safe in two threads; using one is
        return _made(service, region_name, endpoint_url)


@lru_cache(maxsize=8)
def _made(service: str, region_name: str | None, _endpoint_url: str | None) -> Any:
    """One for each service, region and endpoint of this process: making one takes a tenth of a second."""
    from botocore.config import Config
    from botocore.session import get_session

    config = Config(
        connect_timeout=_CONNECT_SECONDS,
        read_timeout=_READ_SECONDS,
        retries={"total_max_attempts": 1},
        proxies={},  # botocore reads the variables where this is missing
    )
    return get_session().create_client(service, region_name=region_name, config=config)


def _told(error: Exception, service: str) -> AwsError:
    if isinstance(error, ImportError):
        return AwsError(f"botocore is not here: {install('aws')}")
    given = getattr(error, "response", None)
    if isinstance(given, Mapping):
        code = str(given.get("Error", {}).get("Code", ""))
        code = code if _CODE.fullmatch(code) else "an error"
        return AwsError(f"{code} from {service}", code)
    name = type(error).__name__
    return AwsError(f"{_MENDS.get(name, name)} ({service})")
