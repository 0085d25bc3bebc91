import pytest

from tui.views.figures import age, estimated, plural, short_count, short_id, span


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (950, "950"),
        (999, "999"),
        (1000, "1.0k"),
        (3149, "3.1k"),
        (9949, "9.9k"),
        (9951, "10k"),
        (12_345, "12k"),
        (999_400, "999k"),
        (999_600, "1.0M"),
        (1_250_000, "1.2M"),
    ],
)
def test_counts_are_short(number, text):
    assert short_count(number) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-1, "0 ms"), (0, "0 ms"), (0.04, "40 ms"), (0.0999, "0.1 s"), (0.44, "0.4 s"), (9.96, "10 s"), (300, "5 min")],
)
def test_spans_have_a_unit(seconds, text):
    assert span(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "now"),
        (59, "now"),
        (60, "1 min"),
        (3599, "60 min"),
        (3600, "1 h"),
        (86400 * 12, "12 d"),
        (86400 * 800, "2 y"),
    ],
)
def test_ages_are_told_in_the_unit_that_fits(seconds, text):
    assert age(seconds) == text


def test_estimates_are_marked_and_nouns_agree():
    assert estimated(3100) == "≈3.1k"
    assert [plural(number, "message") for number in (0, 1, 2)] == ["0 messages", "1 message", "2 messages"]


@pytest.mark.parametrize(
    ("id", "short"),
    [
        ("9f1c2d3e4b5a69788796a5b4c3d2e1f0", "9f1c2d3e"),
        ("9f1c2d3e-4b5a-6978-8796-a5b4c3d2e1f0", "9f1c2d3e"),
        ("interrupted:call_1", "interrupted:call_1"),
        ("interrupted:call_9k3JhGfDsAq1", "interrup…hGfDsAq1"),
        ("7", "7"),
    ],
)
def test_ids_that_begin_alike_stay_apart_when_short(id: str, short: str):
    assert short_id(id) == short
