"""Each table and key of a TOML file has its line."""

import tomllib

from crontick.jobs.toml_lines import line_of, lines

TEXT = '''# a comment [not.a.table]
top = 1

[a."b.c"]  # [neither]
x.y = """
[not.a.table]
z = 1 \\"""
"""
many = [
  # ]
  "]", {q = 1},
]
last = '[x]'
[[list]]
name = 1
[[list]]
[list.sub]
name = 2
[[list.deep]]
name = 3
[[list.deep]]
name = 4
'''


def test_every_key_has_its_line_and_nothing_else_has_one() -> None:
    tomllib.loads(TEXT)
    assert lines(TEXT) == {
        (): 1,
        ("top",): 2,
        ("a", "b.c"): 4,
        ("a", "b.c", "x", "y"): 5,
        ("a", "b.c", "many"): 9,
        ("a", "b.c", "last"): 13,
        ("list",): 14,
        ("list", 0): 14,
        ("list", 0, "name"): 15,
        ("list", 1): 16,
        ("list", 1, "sub"): 17,
        ("list", 1, "sub", "name"): 18,
        ("list", 1, "deep"): 19,
        ("list", 1, "deep", 0): 19,
        ("list", 1, "deep", 0, "name"): 20,
        ("list", 1, "deep", 1): 21,
        ("list", 1, "deep", 1, "name"): 22,
    }


def test_what_has_no_line_of_its_own_has_that_of_the_nearest_around_it() -> None:
    found = lines(TEXT)
    assert line_of(("a", "b.c", "many", 1, "q"), found) == 9
    assert line_of(("nowhere",), found) == 1
