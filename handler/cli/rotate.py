"""Bringing everything that is sealed under the first key."""

import os
import time
from typing import Final

import typer

from crontick.handler.cli.database import connected
from crontick.handler.cli.options import Json
from crontick.handler.cli.screen import complain, say, say_json
from crontick.jobs.endpoint_secrets import EndpointRotation, rotate_endpoints
from crontick.jobs.rotate import Rotation, rotate
from crontick.jobs.sealing import KEYS, MAKE_ONE, SealingError, keyring_of

TOLD_EVERY_SECONDS: Final = 1.0


def rotate_keys(json: Json = False) -> None:
    """Seal afresh what lies under another key than the first, or in clear; exit 1 as long as something is left."""
    keyring = keyring_of(os.environ)
    if keyring is None:
        raise SealingError(f"{KEYS} is not set: {MAKE_ONE}")
    rotation, told_at = Rotation(), time.monotonic()
    with connected() as conn:
        for rotation in rotate(conn, keyring):
            if time.monotonic() - told_at >= TOLD_EVERY_SECONDS:
                told_at = time.monotonic()
                complain(f"{rotation.looked_at} jobs with secret fields looked at, {rotation.sealed} sealed afresh")
        endpoints = rotate_endpoints(conn, keyring)
    if json:
        say_json(
            {
                "key": keyring.first,
                "looked_at": rotation.looked_at,
                "sealed": rotation.sealed,
                "running": rotation.running,
                "held": rotation.held,
                "missing_keys": dict(rotation.missing),
                "broken": rotation.broken,
                "endpoints": {
                    "sealed": endpoints.sealed,
                    "held": endpoints.held,
                    "missing_keys": dict(endpoints.missing),
                    "broken": endpoints.broken,
                },
            }
        )
    else:
        for sentence in [*_sentences(rotation, keyring.first), *_of_endpoints(endpoints)]:
            say(sentence)
        if not (rotation.left or endpoints.left):
            say("nothing is left: keys after the first can be removed")
    if rotation.left or endpoints.left:
        raise typer.Exit(1)


def _sentences(rotation: Rotation, first: str) -> list[str]:
    looked, sealed = rotation.looked_at, rotation.sealed
    sentences = [f"{looked} jobs with secret fields looked at, {sealed} sealed afresh with the key {first}"]
    if rotation.running:
        sentences.append(f"! {rotation.running} run, and were skipped: run this again when they have ended")
    if rotation.held:
        sentences.append(f"! {rotation.held} were held or changed by somebody, and skipped: run this again")
    for key, count in sorted(rotation.missing.items()):
        sentences.append(f"! {count} are sealed with the key {key}, which is not in {KEYS}: add it, or cancel them")
    if rotation.broken:
        named = ", ".join(map(str, rotation.broken[:10]))
        sentences.append(f"! {len(rotation.broken)} do not open, changed or sealed as something else: {named}")
    return sentences


def _of_endpoints(rotation: EndpointRotation) -> list[str]:
    sentences = []
    if rotation.sealed:
        sentences.append(f"{rotation.sealed} webhook endpoints sealed afresh")
    if rotation.held:
        sentences.append(f"! {rotation.held} endpoints were held by somebody, and skipped: run this again")
    for key, count in sorted(rotation.missing.items()):
        sentences.append(f"! {count} endpoints are sealed with the key {key}, which is not in {KEYS}: add it")
    if rotation.broken:
        named = ", ".join(rotation.broken[:10])
        sentences.append(f"! secrets that do not open: {named}: give each another with crontick.set_endpoint")
    return sentences
