"""A template is a file, a payload is data, and rendering ends."""

from pathlib import Path
from typing import Any

import pytest

from crontick.jobs.kinds import templates
from crontick.jobs.kinds.templates import TemplateError, TemplateMissing, render

_LOOPS = "{% for a in xs %}{% for b in xs %}{% for c in xs %}{% endfor %}{% endfor %}{% endfor %}"
"""A turn for each of 10^12, and not a character."""


def written(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"hello.{name.replace('_', '.')}").write_text(text)
    return folder


def test_html_is_escaped_and_text_is_not(tmp_path: Path) -> None:
    folder = written(tmp_path, subject_txt="Hi {{ who }}\n", txt="{{ who }}", html="<b>{{ who }}</b>")
    content = render(folder, "hello", {"who": "A & <i>"})
    assert (content.subject, content.text, content.html) == ("Hi A & <i>", "A & <i>", "<b>A &amp; &lt;i&gt;</b>")


@pytest.mark.parametrize(("name", "has"), [("txt", "text"), ("html", "html")])
def test_one_of_text_and_html_is_enough(tmp_path: Path, name: str, has: str) -> None:
    content = render(written(tmp_path, subject_txt="Hi", **{name: "x"}), "hello", {})
    assert {"text": content.text, "html": content.html} == {"text": None, "html": None, has: "x"}


@pytest.mark.parametrize("files", [{}, {"txt": "x"}, {"subject_txt": "x"}])
def test_missing_files_are_named(tmp_path: Path, files: dict[str, str]) -> None:
    with pytest.raises(TemplateMissing, match=r"needs hello\.subject\.txt, and hello\.txt or hello\.html"):
        render(written(tmp_path, **files), "hello", {})


@pytest.mark.parametrize(
    ("text", "data", "said"),
    [
        ("{{ when }}", {}, "hello.txt: 'when' is undefined"),
        ("{{ a.b }}", {"a": {"secret": 1}}, "hello.txt: 'dict object' has no attribute 'b'"),
        ("{{ 1 / a }}", {"a": 0}, "hello.txt: ZeroDivisionError"),
        ("{{ a + 'x' }}", {"a": 1}, "hello.txt: TypeError"),
        ("{% if %}", {}, "hello.txt, line 1: it is no Jinja template"),
        ("{{ ''.__class__.__mro__ }}", {}, "hello.txt: "),
        ("{{ a.append(1) }}", {"a": []}, "hello.txt: SecurityError"),
        ("{% for i in range(10**9) %}x{% endfor %}", {}, "hello.txt: OverflowError"),
        (
            "{% for i in range(9999) %}{% for j in range(9999) %}{{ 'x' * 999 }}{% endfor %}{% endfor %}",
            {},
            "makes more than a mail",
        ),
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", {}, "hello.txt: RecursionError"),
        ("{{ 'x' * a }}", {"a": 2_000_000}, "makes more than a mail"),
        ("{{ a.format(b) }}", {"a": "{0.__class__}", "b": 1}, "hello.txt: "),
    ],
)
def test_what_does_not_go_together_is_told_without_the_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, data: dict[str, Any], said: str
) -> None:
    monkeypatch.setattr(templates, "_SECONDS", 600)
    with pytest.raises(TemplateError) as raised:
        render(written(tmp_path, subject_txt="Hi", txt=text), "hello", data)
    assert said in str(raised.value)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    "text",
    [
        _LOOPS,
        f"{{% macro m() %}}{_LOOPS}{{% endmacro %}}{{{{ m() }}}}",
        "{% for i in range(9999) %}{% for j in range(9999) %}x{% endfor %}{% endfor %}",
    ],
)
def test_a_template_that_takes_too_long_is_stopped_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setattr(templates, "_SECONDS", 0.3)
    monkeypatch.setattr(templates, "_CHARACTERS", 10**9)
    with pytest.raises(TemplateError, match=r"takes longer than 0\.3 s"):
        render(written(tmp_path, subject_txt="Hi", txt=text), "hello", {"xs": [0] * 9999})


@pytest.mark.parametrize("name", ["", "../hello", "a/b", "/etc/passwd", ".hidden", "a\0b", "x" * 101])
def test_a_name_is_that_of_a_file_in_the_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(TemplateError, match="is the name of a file"):
        render(tmp_path, name, {})


def test_a_link_out_of_the_data_is_no_template(tmp_path: Path) -> None:
    folder = written(tmp_path, subject_txt="{{ a }}", txt="{{ a }}")
    assert render(folder, "hello", {"a": "{% include 'x' %}{{ 7 * 7 }}"}).text == "{% include 'x' %}{{ 7 * 7 }}"


def test_its_version_changes_with_any_of_its_files_and_what_they_include(tmp_path: Path) -> None:
    folder = written(tmp_path, subject_txt="Hi", txt="{% include 'foot.txt' %}", html="x")
    (folder / "foot.txt").write_text("Acme")
    versions = [render(folder, "hello", {}).version]
    for file in ("foot.txt", "hello.txt", "hello.html", "hello.subject.txt"):
        with (folder / file).open("a") as opened:
            opened.write("!")
        versions.append(render(folder, "hello", {}).version)
    assert len({*versions, render(folder, "hello", {}).version}) == 5
