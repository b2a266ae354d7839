#!/usr/bin/env python3
"""Make the zip of a Lambda function from locked wheels, crontick and a project's files, anywhere and without Docker."""

import argparse
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Final, NoReturn

HERE: Final = Path(__file__).resolve().parent
PYTHONS: Final = ("3.12", "3.13", "3.14")
"""3.11 runs on Amazon Linux 2, whose C library (2.26) is too old for the locked psycopg."""
MACHINES: Final = {"arm64": "aarch64", "x86_64": "x86_64"}
C_LIBRARY: Final = range(34, 16, -1)
"""Minor versions of glibc 2, newest first: Amazon Linux 2023 has 2.34."""
OURS: Final = ("pyproject.toml", "README.md", "LICENSE", "deploy", "handler", "jobs", "sql")
NEVER: Final = shutil.ignore_patterns("__pycache__", "*.pyc", ".*")
"""A hidden file is as likely a secret as anything."""
TIME: Final = (2020, 1, 1, 0, 0, 0)
"""Of every file, so that the same input makes the same zip. Its bytecode is believed whatever the time."""
TIMED: Final = """import sys, time
sys.path.insert(0, sys.argv[1])
began = time.perf_counter()
import crontick.handler.aws
print(time.perf_counter() - began)"""


def main() -> None:
    """Build, measure, and refuse what is too large."""
    asked = _arguments()
    version = ".".join(map(str, sys.version_info[:2])) if asked.platform == "here" else asked.python
    compiler = None if asked.without_bytecode else _compiler(version)
    with tempfile.TemporaryDirectory(prefix="crontick-lambda-") as folder:
        wheels, package = Path(folder, "wheels"), Path(folder, "package")
        package.mkdir()
        _add_crontick(asked.crontick, package)
        _download(asked.requirements or [HERE / "requirements.txt"], wheels, _target(asked.platform, version))
        for wheel in sorted(wheels.iterdir()):
            _unpack(wheel, package)
        for path in asked.paths:
            _copy(asked.project, path, package)
        if compiler:
            _compile(compiler, package)
        _write(package, asked.output)
        _report(asked.output, package)
        if compiler and MACHINES.get(asked.platform, os.uname().machine) == os.uname().machine:
            _time_import(compiler, package)
        else:
            print("its cold import is not measured: that takes bytecode, and a machine such as it is for")
    if asked.output.stat().st_size >= asked.most_mb * 1_000_000:
        asked.output.unlink()
        _stop(f"that is {asked.most_mb} MB or more: leave out of its largest parts, or allow it with --most-mb")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="a file or folder of the project, such as acme or crontick.toml"
    )
    parser.add_argument(
        "--project", type=Path, default=Path(), help="the folder that each PATH is in (the current one)"
    )
    parser.add_argument("--output", type=Path, default=Path("function.zip"))
    parser.add_argument("--platform", choices=[*MACHINES, "here"], default="arm64")
    parser.add_argument("--python", choices=PYTHONS, default="3.13")
    parser.add_argument(
        "--requirements",
        type=Path,
        action="append",
        help="a lock file with hashes, in place of the one beside this script; several are one",
    )
    parser.add_argument(
        "--crontick", type=Path, help="its wheel or a checkout (the one of this script, else what is installed)"
    )
    parser.add_argument("--most-mb", type=int, default=25, help="a larger zip is refused")
    parser.add_argument(
        "--without-bytecode", action="store_true", help="each cold start then compiles everything again"
    )
    return parser.parse_args()


def _target(platform: str, version: str) -> list[str]:
    """What tells pip for which machine it chooses."""
    if platform == "here":
        return []
    machine = MACHINES[platform]
    platforms = [*[f"manylinux_2_{minor}_{machine}" for minor in C_LIBRARY], f"manylinux2014_{machine}"]
    named = [word for name in platforms for word in ("--platform", name)]
    return [*named, "--python-version", version, "--implementation", "cp"]


def _download(requirements: Iterable[Path], wheels: Path, target: list[str]) -> None:
    locks = [word for path in requirements for word in ("--requirement", str(path))]
    _pip("download", "--require-hashes", "--no-deps", "--only-binary", ":all:", *target, "--dest", str(wheels), *locks)


def _add_crontick(given: Path | None, package: Path) -> None:
    """From its wheel, a checkout, or else the one that this Python has installed."""
    if given is None and not _is_checkout(HERE.parents[1]):
        _copy_installed(package)
        return
    source = given or HERE.parents[1]
    if source.suffix != ".whl" and not _is_checkout(source):
        _stop(f"{source} is no checkout of crontick: name one, or a wheel, with --crontick")
    with tempfile.TemporaryDirectory(prefix="crontick-wheel-") as folder:
        _unpack(source if source.suffix == ".whl" else _wheel(source, Path(folder)), package)


def _is_checkout(folder: Path) -> bool:
    return all((folder / name).exists() for name in OURS)


def _wheel(checkout: Path, folder: Path) -> Path:
    """Built from a copy, so that nothing built before gets into it."""
    copy = folder / "source"
    for name in OURS:
        _copy(checkout, name, copy)
    _pip("wheel", "--no-deps", "--wheel-dir", str(folder), str(copy))
    return next(folder.glob("*.whl"))


def _copy_installed(package: Path) -> None:
    try:
        files = metadata.files("crontick") or []
    except metadata.PackageNotFoundError:
        files = []
    ours = [file for file in files if file.parts[0].startswith("crontick") and file.suffix != ".pyc"]
    modules = [file for file in ours if file.name != "direct_url.json"]  # which tells of this machine
    if Path("crontick/handler/aws.py") not in map(Path, modules):
        _stop("crontick is not installed beside this Python: pip install crontick, or name it with --crontick")
    for file in modules:
        target = package / file
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(str(file.locate()), target)


def _unpack(wheel: Path, package: Path) -> None:
    """Its modules and what is told of it; scripts have no use on Lambda."""
    with zipfile.ZipFile(wheel) as opened:
        inside = [name for name in opened.namelist() if "/tests/" not in name]
        if odd := [name for name in inside if ".data/" in name and ".data/scripts/" not in name]:
            _stop(f"{wheel.name} has files that only an installer puts in their place, such as {odd[0]}")
        opened.extractall(package, [name for name in inside if ".data/" not in name])


def _copy(project: Path, path: str, package: Path) -> None:
    source, target = project / path, package / path
    if not source.exists():
        _stop(f"{source} is not there: PATH is a file or folder inside {project.resolve()}")
    if package.resolve() not in target.resolve().parents:
        _stop(f"{path} leads out of the project: give --project, and paths inside it")
    if target.exists():
        _stop(f"{path} has the name of a package that is in the zip already: give it another")
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, ignore=NEVER)
    else:
        shutil.copyfile(source, target)


def _compile(compiler: str, package: Path) -> None:
    """Bytecode that needs no look at its source; a fixed seed keeps the order of its sets."""
    where = ["-s", str(package), "-p", "/var/task"]
    _run(
        [compiler, "-m", "compileall", "-qq", "--invalidation-mode", "unchecked-hash", *where, str(package)],
        PYTHONHASHSEED="0",
    )


def _write(package: Path, output: Path) -> None:
    output.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as opened:
        for path in _files(package):
            entry = zipfile.ZipInfo(path.relative_to(package).as_posix(), TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (stat.S_IFREG | 0o644) << 16  # Lambda reads as another user than its owner
            opened.writestr(entry, path.read_bytes())


def _report(output: Path, package: Path) -> None:
    parts: Counter[str] = Counter()
    for path in _files(package):
        parts[path.relative_to(package).parts[0]] += path.stat().st_size
    print(f"{output}: {output.stat().st_size / 1e6:.1f} MB, unpacked {parts.total() / 1e6:.1f} MB")
    print("largest: " + ", ".join(f"{name} {size / 1e6:.1f} MB" for name, size in parts.most_common(5)))


def _time_import(compiler: str, package: Path) -> None:
    """In fresh processes that find nothing but the package."""
    environ = {"CRONTICK_DATABASE_URL": "postgresql://localhost/none", "PATH": os.environ.get("PATH", "")}
    command = [compiler, "-I", "-S", "-c", TIMED, str(package)]
    taken = sorted(
        float(subprocess.run(command, check=True, capture_output=True, text=True, cwd=package, env=environ).stdout)
        for _ in range(5)
    )
    print(f"import of crontick.handler.aws, cold: {taken[2] * 1000:.0f} ms (middle of five processes)")


def _compiler(version: str) -> str:
    """A Python of that version: bytecode is for one alone."""
    candidates = [sys.executable, *filter(None, [shutil.which(f"python{version}")])]
    fitting = [candidate for candidate in candidates if _version(candidate) == version]
    if not fitting:
        _stop(
            f"there is no python{version} here, which alone compiles for itself: install it, or say --without-bytecode"
        )
    return fitting[0]


def _version(python: str) -> str:
    told = subprocess.run(
        [python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], check=False, capture_output=True, text=True
    )
    return told.stdout.strip()


def _files(package: Path) -> Iterator[Path]:
    return iter(sorted(path for path in package.rglob("*") if path.is_file()))


def _pip(*arguments: str) -> None:
    _run([sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments])


def _run(command: list[str], **environ: str) -> None:
    ended = subprocess.run(command, check=False, env={**os.environ, **environ})
    if ended.returncode:
        _stop(f"this command failed: {' '.join(command[:4])} …")


def _stop(sentence: str) -> NoReturn:
    sys.exit(f"build: {sentence}")


if __name__ == "__main__":
    main()
