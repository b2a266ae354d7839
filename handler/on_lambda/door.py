"""What a Lambda process keeps from call to call: its deployment, its event loop, and whether it must end."""

import asyncio
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any, Final, NoReturn, Protocol

import msgspec

from crontick.handler import logs, watchdog
from crontick.handler.logs import log
from crontick.handler.on_lambda.events import Batch, Direct, Http, Migrate, recognised
from crontick.handler.on_lambda.own_loop import OwnLoop
from crontick.handler.on_lambda.retiring import end, last_answer
from crontick.jobs import threads
from crontick.jobs.caller import Caller
from crontick.jobs.config_error import ConfigError
from crontick.jobs.deployment import Deployment, DeploymentError, load_deployment
from crontick.jobs.process import run_tick
from crontick.jobs.redact import Redactor
from crontick.jobs.request import TickRequest
from crontick.jobs.secrets import any_from_aws
from crontick.jobs.settings import Settings, SettingsError
from crontick.jobs.stop import Stop
from crontick.jobs.summary import Summary
from crontick.jobs.unavailable import Unavailable

ANSWER_BYTES: Final = 3_000_000
"""Lambda takes 6 MB, in which a quote or a line end of a text is two characters, and other bytes are in base64."""


class TickFailed(Exception):
    """A direct invocation did not do what it asks for; the text says why, in crontick's own words (P36)."""


class Context(Protocol):
    """Of what Lambda tells of an invocation, that which is used."""

    aws_request_id: str

    def get_remaining_time_in_millis(self) -> int:
        """Until the platform ends the invocation."""
        ...


class LambdaDoor:
    """One a process. A deployment that cannot be loaded is told at each call, and tried again there."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._loop = OwnLoop()
        self._deployment: Deployment | None = None
        self._app: Any = None
        self._context: Context | None = None
        self._retiring = False
        self._ours = "AWS_LAMBDA_RUNTIME_API" in environ
        """Outside Lambda, in somebody's tests, the process is not ours to end."""
        if any_from_aws(environ):
            return
        try:
            self._load()
        except TickFailed as failed:
            log.error("crontick cannot tick: %s", failed)

    def answer(self, event: object, context: Context, *, posted: bool) -> dict[str, Any]:
        """``posted``: whoever called this posts what it returns, as it is, before anything else."""
        self._context = context
        if self._retiring and self._ours:
            end("before a call that it could harm")
        asked = recognised(event)
        try:
            answer = self._answer(asked, event, context)
        finally:
            self._retiring = not (self._loop.clear() and threads.all_end())
        return last_answer(answer) if self._retiring and self._ours and posted else answer

    def _answer(self, asked: Http | Direct | Batch | Migrate, event: Any, context: Context) -> dict[str, Any]:
        if isinstance(asked, Http):
            return self._answer_http(event, context, asked.stage)
        deployment = self._load()
        match asked:
            case Direct():
                return self._ticked(deployment, asked.request, asked.trigger).as_dict(verbose=asked.request.verbose)
            case Batch():
                self._ticked(deployment, asked.request, "sqs")
                return {"batchItemFailures": []}
            case Migrate():
                return self._migrated(deployment)

    def _ticked(self, deployment: Deployment, request: TickRequest, trigger: str) -> Summary:
        try:
            summary = self._loop.run(self._direct(deployment, request, Caller(trigger)))
        except Unavailable as unavailable:
            raise TickFailed(unavailable.sentence) from None
        except Exception as error:  # noqa: BLE001 (the platform would post its text as it is, secrets and all)
            _fault(error)
        log.info("tick", extra={"fields": {"event": "tick", **summary.as_dict(verbose=True)}})
        logs.push(summary, deployment.settings)
        return summary

    async def _direct(self, deployment: Deployment, request: TickRequest, caller: Caller) -> Summary:
        settings = deployment.settings
        budget = min(request.budget_seconds or settings.budget_seconds, settings.max_budget_seconds)
        loop = asyncio.get_running_loop()
        watched = watchdog.watched(loop, deadline_seconds=budget)
        with watched if self._ours else nullcontext():
            return await self._tick(deployment, request, caller, Stop())

    async def _tick(self, deployment: Deployment, request: TickRequest, caller: Caller, stop: Stop) -> Summary:
        assert self._context is not None  # a tick runs inside a call
        caller = msgspec.structs.replace(caller, host_request_id=self._context.aws_request_id)
        left = self._context.get_remaining_time_in_millis() / 1000
        return await run_tick(deployment, request, caller=caller, stop=stop, call_ends_in_seconds=left)

    def _answer_http(self, event: Mapping[str, Any], context: Context, stage: str | None) -> dict[str, Any]:
        from crontick.handler.on_lambda import http

        self._loop.enter()
        try:
            app = self._http_app()
        except TickFailed as failed:
            log.error("crontick cannot tick: %s", failed)
            app = http.misconfigured
        return http.answer(app, event, context, stage=stage)

    def _http_app(self) -> Any:
        if self._app is None:
            from crontick.handler.app import create_app
            from crontick.jobs.ready import check_ready

            deployment = self._load()
            self._app = create_app(
                deployment.settings,
                run_tick=lambda request, caller, stop: self._tick(deployment, request, caller, stop),
                check_ready=lambda: check_ready(deployment),
                retire=self._forget_app if self._ours else None,
                answer_bytes=ANSWER_BYTES,
                deployment=lambda: deployment,
            )
        return self._app

    def _forget_app(self) -> None:
        """Its door lets nobody in any more. Whether the process must end is looked for after the call."""
        self._app = None

    def _migrated(self, deployment: Deployment) -> dict[str, Any]:
        from crontick.handler.on_lambda.migrate import migrated

        if not (self._environ.get("CRONTICK_MIGRATE_URL") or self._environ.get("CRONTICK_MIGRATE_URL_FROM")):
            raise TickFailed(
                "CRONTICK_MIGRATE_URL is not set: an invocation migrates only where it names the owner's role"
            )
        try:
            return {"ran": migrated(deployment)}
        except Unavailable as unavailable:
            raise TickFailed(f"the migration did not run: {unavailable.reason}") from None
        except Exception as error:  # noqa: BLE001 (as above)
            _fault(error)

    def _request_id(self) -> str:
        return self._context.aws_request_id if self._context else ""

    def _load(self) -> Deployment:
        """The deployment, loaded once. Raises ``TickFailed`` with every sentence about what is wrong with it."""
        if self._deployment is None:
            redact = Redactor(())
            log_format: logs.LogFormat = "json"
            try:
                settings = Settings.from_environ(self._environ)
                redact, log_format = Redactor(settings.secrets), settings.log_format
                self._deployment = load_deployment(settings)
                redact = self._deployment.redact
            except (SettingsError, ConfigError, DeploymentError) as error:
                raise TickFailed(redact(str(error))) from None
            finally:
                logs.configure(redact, lambda_request_id=self._request_id, log_format=log_format)
        return self._deployment


def _fault(error: Exception) -> NoReturn:
    log.error("the invocation failed", exc_info=error)
    raise TickFailed(
        f"{type(error).__name__}, a fault of crontick: its log has the traceback; jobs that ran are retried"
    ) from None
