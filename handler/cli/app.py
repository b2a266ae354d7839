"""All commands, by the names that people type."""

from importlib.metadata import version
from typing import Annotated

import typer

from crontick.handler.cli import (
    alerts,
    breakers,
    check,
    completion,
    dead,
    demo,
    dev,
    doctor,
    doubts,
    email,
    enqueue,
    groups,
    in_force,
    init,
    jobs,
    limits,
    migrate,
    pauses,
    plan,
    reminders,
    report,
    rotate,
    schedules,
    status,
    tick,
    ticks,
    unfinished,
    verify_trigger,
    watch,
    webhook,
)
from crontick.handler.cli.screen import say

app = typer.Typer(
    name="crontick",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _say_version(asked: bool) -> None:
    if asked:
        say(f"crontick {version('crontick')}")
        raise typer.Exit


def crontick(
    _version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_say_version, help="Say which release this is.")
    ] = False,
) -> None:
    """Background jobs for apps that sleep."""


app.callback()(crontick)
app.command("demo")(demo.demo)
app.command("dev")(dev.dev)
app.command("init")(init.init)
app.command("migrate")(migrate.migrate)
app.command("check")(check.check)
app.command("doctor")(doctor.doctor)
app.command("completion")(completion.completion)
app.command("tick")(tick.tick)
app.command("watch")(watch.watch)
app.command("enqueue")(enqueue.enqueue)
app.command("jobs")(jobs.jobs)
app.command("show")(jobs.show)
app.command("why")(jobs.why)
app.command("cancel")(unfinished.cancel)
app.command("run-now")(unfinished.run_now)
app.add_typer(dead.app, name="dead")
app.add_typer(doubts.app, name="doubts")
app.add_typer(email.app, name="email")
app.add_typer(breakers.app, name="breakers")
app.add_typer(alerts.app, name="alerts")
app.command("pause")(pauses.pause)
app.command("resume")(pauses.resume)
app.command("groups")(groups.groups)
app.command("rotate-keys")(rotate.rotate_keys)
app.command("status")(status.status)
app.command("limits")(limits.limits)
app.command("ticks")(ticks.ticks)
app.command("verify-trigger")(verify_trigger.verify_trigger)
app.command("plan")(plan.plan)
app.add_typer(reminders.app, name="reminders")
schedules.app.command("list")(in_force.list_)
schedules.app.command("run")(in_force.run)
app.add_typer(schedules.app, name="schedules")
app.add_typer(webhook.app, name="webhook")
app.add_typer(report.app, name="report")
