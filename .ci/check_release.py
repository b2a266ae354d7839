"""Refuses a release whose tag, versions and changelog do not agree: ``python .ci/check_release.py v0.1.0``."""

import re
import sys
import tomllib
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Final

VERSIONS: Final = {
    "sql/__init__.py": r'^VERSION[^=\n]*= "([^"\n]+)"',
    ".github/actions/tick/tick.py": r'^VERSION[^=\n]*= "([^"\n]+)"',
    "deploy/image/Dockerfile": r"^ARG CRONTICK=(\S+)",
}
"""Where else the version stands, and how."""


def faults(root: Path, tag: str) -> Iterator[str]:
    """What keeps the tag from being a release, a sentence each with the mend."""
    version: str = tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]
    if tag != f"v{version}":
        yield f"the tag {tag!r} is not of this version: pyproject.toml says {version}, whose tag is v{version}"
    for name, pattern in VERSIONS.items():
        found = re.search(pattern, (root / name).read_text(), re.MULTILINE)
        if found is None or found[1] != version:
            yield f"{name} says {found[1] if found else 'no version'}, pyproject.toml {version}: make them one"
    yield from _changes((root / "CHANGELOG.md").read_text(), version)


def _changes(text: str, version: str) -> Iterator[str]:
    """What is wrong with the section of the version, which must be the first: what is above it would be left out."""
    sections = re.findall(r"^## (.*)\n((?:(?!## ).*\n?)*)", text, re.MULTILINE)
    heading = f"`## {version} (YYYY-MM-DD)`"
    if not sections or sections[0][0].split()[:1] != [version]:
        first = f"`## {sections[0][0]}`" if sections else "nothing"
        yield f"CHANGELOG.md begins with {first}, not with the section of this release: write {heading} above it"
        return
    named, body = sections[0]
    if not _dated(named.removeprefix(version)):
        yield f"CHANGELOG.md has `## {named}`: name the day of the release, {heading}"
    if not re.search(r"^- \S", body, re.MULTILINE):
        yield f"CHANGELOG.md says nothing below `## {named}`: tell what changed, a line each"
    if re.search(r"\bunreleased\b", body, re.IGNORECASE):
        yield f"CHANGELOG.md still says unreleased below `## {named}`: take it out, or do not release"


def _dated(rest: str) -> bool:
    found = re.fullmatch(r" \((\d{4}-\d{2}-\d{2})\)", rest)
    try:
        return found is not None and bool(date.fromisoformat(found[1]))
    except ValueError:
        return False


def main() -> int:
    """0 when the tag may be released, 1 when it may not, 2 without a tag."""
    if len(sys.argv) != 2:
        sys.stderr.write("usage: python .ci/check_release.py TAG\n")
        return 2
    found = list(faults(Path.cwd(), sys.argv[1]))
    sys.stderr.writelines(f"{sentence}\n" for sentence in found)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
