"""A bad expression is refused with the field that is wrong and the mend."""

import pytest

from crontick.jobs.slots import CronError, parse


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("* 24 * * *", "field 2 of 5, the hour: '24' is not understood: write 0 to 23"),
        ("0 0 1,32 * *", "field 3 of 5, the day of the month: '32' is not understood: write 1 to 31"),
        ("0 0 * jan-foo *", "field 4 of 5, the month: 'jan-foo' is not understood: write 1 to 12 or jan to dec"),
        ("0 0 * * 1#6", "field 5 of 5, the day of the week: '1#6' is not understood: write 0 to 7 or sun to sat"),
        ("1, * * * *", "field 1 of 5, the minute: a comma has nothing before or after it"),
        ("*/0 * * * *", "field 1 of 5, the minute: '*/0' has a step of 0: write 1 or more"),
        ("0 22-2 * * *", "field 2 of 5, the hour: '22-2' runs backwards: write 22-23,0-2"),
        ("0 0 * * fri-mon", "'fri-mon' runs backwards: write fri-6,0-mon"),
        ("0 0 ? * mon", "field 3 of 5, the day of the month: for any, write *"),
        ("0 0 L/2 * *", "field 3 of 5, the day of the month: 'L/2' is not understood"),
        ("0 0 30 2 *", "'0 0 30 2 *' never fires: no month of field 4 has the day"),
        ("0 0 */31 2 mon#5", "never fires"),
        ("0 0 * *", "'0 0 * *' has 4 fields: write five, minute, hour, day of the month, month, day of the week"),
        ("0 0 0 * * *", "has 6 fields: write five"),
        ("0 0 1 1 * 2027", "seconds, years and users are not understood"),
        ("CRON_TZ=UTC 0 0 * * *", "the zone goes into tz"),
        ("@reboot", "'@reboot' is none of @yearly,"),
        ("", "'' has 0 fields"),
        ("0," * 600 + "0 * * * *", "1000 are the most"),
    ],
)
def test_the_message_names_the_field_and_the_mend(text: str, said: str) -> None:
    with pytest.raises(CronError) as refused:
        parse(text, "UTC")
    assert said in str(refused.value)


@pytest.mark.parametrize("term", ["22-23,0-2", "*/7", "5/20", "7,*/15"])
def test_what_a_mend_writes_is_understood(term: str) -> None:
    assert parse(f"0 {term} * * *" if "-" in term else f"{term} 0 * * *", "UTC").text


def test_a_range_of_one_with_a_step_is_that_one() -> None:
    assert parse("5-5/20,7 15-20/5 * * Mon-mon/2", "UTC").fields == "5,7 15-20/5 * * Mon"


def test_white_space_is_told_apart_from_nothing_but_itself() -> None:
    assert parse(" 0\t2  * * *\n", "UTC") == parse("0 2 * * *", "UTC")


@pytest.mark.parametrize("zone", ["", "utc", "Europe/Berln", "../../etc/passwd", "/etc/localtime", "Factory", "a\0b"])
def test_a_zone_that_nobody_knows_is_refused(zone: str) -> None:
    with pytest.raises(CronError, match="is no time zone"):
        parse("0 2 * * *", zone)


def test_a_zone_misspelt_is_answered_with_the_one_meant() -> None:
    with pytest.raises(CronError, match=r"did you mean Europe/Berlin\?"):
        parse("0 2 * * *", "Europe/Berln")
