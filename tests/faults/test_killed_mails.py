"""A tick is killed (SIGKILL) in each gap of a mail: over SMTP it stays in doubt, over Resend's API it arrives once."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from crontick.jobs.kinds.send_email import send_email
from tests.faults.world import World
from tests.kinds.smtp_script import SILENCE, scripted
from tests.worlds.proxy import Proxy
from tests.worlds.resend_stub import API_KEY, DEAF, resend_stub
from tests.worlds.resend_stub import SILENCE as NO_ANSWER
from tests.worlds.smtp_sink import SmtpSink
from tests.worlds.waiting import async_until

HI = {"to": "ann@example.com", "subject": "Hi", "text": "Hello"}
SMTP = '[email]\nurl_env = "SMTP_URL"\nfrom = "hi@acme.example"\n'
RESEND = '[email]\nprovider = "resend"\napi_key_env = "RESEND_API_KEY"\nbase_url = "{url}"\nfrom = "hi@acme.example"\n'


def configure(world: World, folder: Path, config: str) -> None:
    path = folder / "crontick.toml"
    path.write_text(config)
    world.settings = {"config_path": str(path)}


@dataclass(slots=True)
class Deaf:
    """Called when a mail was taken: from then on the database hears nothing."""

    proxy: Proxy
    asked: int | None = None

    def __call__(self) -> None:
        self.asked, self.proxy.black_hole = self.proxy.round_trips, True

    def in_vain(self) -> bool:
        """Whether it was asked for something since."""
        return self.asked is not None and self.proxy.round_trips > self.asked


async def states(world: World) -> list[str]:
    return [row[0] for row in await world.rows("select state from crontick.markers")]


async def in_doubt_until_somebody_decides(world: World, sink: SmtpSink, job: int) -> None:
    """An hour later the job is dead in doubt and nothing was sent again; decided as not sent, it goes out once."""
    sent = len(sink.mails)
    await world.later("1 hour")
    assert (await world.tick()).dead == 1
    assert (await world.outcomes(job), await states(world)) == (["rescued", "dead"], ["in_doubt"])
    assert len(sink.mails) == sent
    await world.rows("select crontick.resolve_doubt('send_email', %s, 'not_sent', 'ann')", f"job:{job}")
    assert (await world.tick()).succeeded == 1
    assert (len(sink.mails), await states(world)) == (sent + 1, ["sent"])


async def test_killed_before_it_connects(
    world: World, smtp_sink: SmtpSink, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(world, tmp_path, SMTP)
    monkeypatch.setenv("SMTP_URL", smtp_sink.url)
    job = await world.enqueue(send_email, HI)
    child = world.doomed(around="tests.faults.doomed:hesitate")
    assert child.line() == f"claimed {job}"
    child.kill()
    await in_doubt_until_somebody_decides(world, smtp_sink, job)


@pytest.mark.parametrize(
    ("answers", "heard"),
    [
        ((SILENCE,), ()),
        (("220 here", "250 sink", "250 OK", "250 OK", SILENCE), ("DATA",)),
        (("220 here", "250 sink", "250 OK", "250 OK", "354 go on", SILENCE), (".",)),
    ],
    ids=["connected", "after RCPT", "after its content"],
)
async def test_killed_in_its_conversation(
    world: World, smtp_sink: SmtpSink, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    answers: tuple[str, ...], heard: tuple[str, ...],
) -> None:  # fmt: skip
    configure(world, tmp_path, SMTP)
    job = await world.enqueue(send_email, HI)
    async with scripted(*answers) as server:
        monkeypatch.setenv("SMTP_URL", f"smtp://127.0.0.1:{server.port}")
        child = world.doomed()
        await async_until(lambda: server.conversations and tuple(server.heard[-1:]) == heard)
        child.kill()
    monkeypatch.setenv("SMTP_URL", smtp_sink.url)
    await in_doubt_until_somebody_decides(world, smtp_sink, job)


async def test_killed_between_the_servers_yes_and_the_settle(
    world: World, proxy: Proxy, smtp_sink: SmtpSink, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(world, tmp_path, SMTP)
    monkeypatch.setenv("SMTP_URL", smtp_sink.url)
    job = await world.enqueue(send_email, HI)
    smtp_sink.taken = asked = Deaf(proxy)
    child = world.doomed(proxy.url)
    await async_until(asked.in_vain)
    child.kill()
    assert await states(world) == ["reserved"]
    smtp_sink.taken = None
    await in_doubt_until_somebody_decides(world, smtp_sink, job)


async def test_over_resend_killed_before_it_connects(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RESEND_API_KEY", API_KEY)
    with resend_stub() as stub:
        configure(world, tmp_path, RESEND.format(url=stub.base_url))
        job = await world.enqueue(send_email, HI)
        child = world.doomed(around="tests.faults.doomed:hesitate")
        assert child.line(seconds=30) == f"claimed {job}"
        child.kill()
        await world.later("1 hour")
        assert (await world.tick()).succeeded == 1
    assert (len(stub.mails), await states(world)) == (1, ["sent"])


async def test_over_resend_killed_while_it_waits_for_the_answer(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RESEND_API_KEY", API_KEY)
    with resend_stub() as stub:
        configure(world, tmp_path, RESEND.format(url=stub.base_url))
        stub.answers.append(NO_ANSWER)
        job = await world.enqueue(send_email, HI)
        child = world.doomed()
        await async_until(lambda: stub.mails)
        child.kill()
        await world.later("1 hour")
        summary = await world.tick()
    assert (summary.rescued, summary.succeeded, await states(world)) == (1, 1, ["sent"])
    assert (len(stub.mails), len(stub.requests), len(set(stub.requests))) == (1, 2, 1)
    assert await world.status(job) == "succeeded"


async def test_over_resend_killed_between_its_yes_and_the_settle(
    world: World, proxy: Proxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RESEND_API_KEY", API_KEY)
    with resend_stub() as stub:
        configure(world, tmp_path, RESEND.format(url=stub.base_url))
        await world.enqueue(send_email, HI)
        stub.taken = asked = Deaf(proxy)
        child = world.doomed(proxy.url)
        await async_until(asked.in_vain)
        child.kill()
        await world.later("22 hours")
        summary = await world.tick()
    assert (summary.succeeded, await states(world), len(stub.mails), len(stub.requests)) == (1, ["sent"], 1, 2)


async def test_over_resend_a_template_that_a_deploy_changed_meanwhile_is_not_sent_as_well(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RESEND_API_KEY", API_KEY)
    (tmp_path / "hi.txt").write_text("Hello")
    (tmp_path / "hi.subject.txt").write_text("Hi 1")
    with resend_stub() as stub:
        configure(world, tmp_path, RESEND.format(url=stub.base_url) + f'templates = "{tmp_path}"\n')
        stub.answers.append(NO_ANSWER)
        job = await world.enqueue(send_email, {"to": "ann@example.com", "template": "hi"})
        child = world.doomed()
        await async_until(lambda: stub.mails)
        child.kill()
        (tmp_path / "hi.subject.txt").write_text("Hi 2")
        await world.later("1 hour")
        summary = await world.tick()
    assert (summary.dead, await states(world), await world.status(job)) == (1, ["in_doubt"], "dead")
    assert [mail["subject"] for mail in stub.mails] == ["Hi 1"]


CHANGED = {
    # What the provider knows cannot tell: it has had nothing.
    "park": (["Hi 1"], ["in_doubt"], "dead"),
    "skip": (["Hi 1"], ["in_doubt"], "succeeded"),
    "resend": (["Hi 1", "Hi 2"], ["sent"], "succeeded"),
}


@pytest.mark.parametrize("policy", CHANGED)
async def test_over_resend_what_the_killed_tick_was_about_to_send_is_known_to_the_next(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, policy: str
) -> None:
    asked, markers, status = CHANGED[policy]
    monkeypatch.setenv("RESEND_API_KEY", API_KEY)
    (tmp_path / "hi.txt").write_text("Hello")
    (tmp_path / "hi.subject.txt").write_text("Hi 1")
    with resend_stub() as stub:
        more = f'templates = "{tmp_path}"\nin_doubt = "{policy}"\n'
        configure(world, tmp_path, RESEND.format(url=stub.base_url) + more)
        stub.answers.append(DEAF)
        job = await world.enqueue(send_email, {"to": "ann@example.com", "template": "hi"})
        child = world.doomed()
        await async_until(lambda: stub.requests)
        child.kill()
        [(known,)] = await world.rows("select content_hash from crontick.markers")
        assert known == hashlib.sha256(stub.requests[0][1]).hexdigest()
        (tmp_path / "hi.subject.txt").write_text("Hi 2")
        await world.later("1 hour")
        await world.tick()
    assert [json.loads(body)["subject"] for _, body in stub.requests] == asked
    assert len({key for key, _ in stub.requests}) == len(asked)
    assert (await states(world), await world.status(job)) == (markers, status)


@pytest.mark.parametrize("refused", [False, True], ids=["to all", "to some"])
async def test_killed_while_the_server_commits_its_settle_the_mail_is_sent(
    world: World, smtp_sink: SmtpSink, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, refused: bool
) -> None:
    """And whoever was refused for now still gets one of his own: the settle wrote that job, too."""
    configure(world, tmp_path, SMTP)
    monkeypatch.setenv("SMTP_URL", smtp_sink.url)
    smtp_sink.replies["RCPT"].extend(["250 OK", "450 4.2.0 greylisted"] if refused else [])
    job = await world.enqueue(send_email, HI | {"to": ["ann@example.com", "bob@example.com"]})
    await world.hold("update on crontick.markers", "when (new.state = 'sent')")
    child = world.doomed()
    await world.session_in_it()
    child.kill()
    await world.go_on()
    await async_until(lambda: world.rows("select from crontick.markers where state = 'sent'"), seconds=30)
    await world.later("1 hour")
    for _ in range(2):
        await world.tick()
    assert await world.status(job) == "succeeded"
    sent = [mail.recipients for mail in smtp_sink.mails]
    everybody = [("ann@example.com", "bob@example.com")]
    assert sent == ([("ann@example.com",), ("bob@example.com",)] if refused else everybody)


async def test_two_overlapping_ticks_send_each_mail_once(
    world: World, smtp_sink: SmtpSink, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(world, tmp_path, SMTP)
    monkeypatch.setenv("SMTP_URL", smtp_sink.url)
    for nth in range(40):
        await world.enqueue(send_email, HI | {"to": f"a{nth}@example.com"})
    children = [world.doomed(concurrency=3) for _ in range(2)]
    assert [child.wait() for child in children] == [0, 0]
    assert sorted(mail.recipients for mail in smtp_sink.mails) == sorted((f"a{n}@example.com",) for n in range(40))
    assert await states(world) == ["sent"] * 40
