"""The apps of ``deploy/examples``, started as their readers start them."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.worlds.process import ROOT

EXAMPLES = ROOT / "deploy" / "examples"
DEBIANS_GO_MODULES = Path("/usr/share/gocode")


def node(_folder: Path) -> list[str]:
    program = shutil.which("node")
    if program is None or not (EXAMPLES / "node" / "node_modules").exists():
        pytest.skip(
            "Node and its packages are not here: apt-get install nodejs npm; npm ci --prefix deploy/examples/node"
        )
    return [program, str(EXAMPLES / "node" / "app.mjs")]


def debians_driver() -> Path:
    """Where Debian's package has the sources of lib/pq."""
    return DEBIANS_GO_MODULES / "src" / "github.com" / "lib" / "pq"


def go(folder: Path) -> list[str]:
    """Vetted and compiled with the driver that Debian packages, so that no module proxy is asked."""
    program = shutil.which("go")
    if program is None or not debians_driver().exists():
        pytest.skip("Go and its driver are not here: apt-get install golang-go golang-github-lib-pq-dev")
    own = {"GO111MODULE": "off", "GOPATH": str(DEBIANS_GO_MODULES), "GOFLAGS": ""}
    for command in (["vet", "."], ["build", "-o", str(folder / "app"), "."]):
        done = subprocess.run(
            [program, *command], cwd=EXAMPLES / "go", env=os.environ | own, check=False, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
    return [str(folder / "app")]


APPS: dict[str, Callable[[Path], list[str]]] = {"node": node, "go": go}
