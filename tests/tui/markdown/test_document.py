"""Markdown laid out in lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.lines import copied
from tui.markdown.document import MarkdownDocument

SAMPLE = """\
# Title *x*

Hello **bold** and `code`, a [link](http://x.y) and <http://a.b>.
line two

- one
- two is long enough to be broken over lines
  - nested
    > quote in nested
- three

1. first

   more of first
2. second

> quote
> > inner
>
> back

```python
def f(x):
    return 1
```

| a | b | c |
|---|--:|:-:|
| x | 12 | 日本語 |
| long cell text | 3 | y |

---

Setext
======

~~gone~~ ![alt](img.png)
"""


def shown(text: str, width: int = 40) -> list[str]:
    return [line.content.plain.rstrip() for line in MarkdownDocument().settled(text).lines(width)]


def test_everything_has_its_form() -> None:
    assert (
        "\n".join(shown(SAMPLE))
        == """\
Title x

Hello bold and code, a link (http://x.y)
and http://a.b.
line two

• one
• two is long enough to be broken over
  lines
  • nested
    ▌ quote in nested
• three

1. first

   more of first

2. second

▌ quote
▌
▌ ▌ inner
▌
▌ back

  def f(x):
      return 1

a                b    c
──────────────  ──  ──────
x               12  日本語
long cell text   3    y

────────────────────────────────────────

Setext

gone [image: alt] (img.png)"""
    )


def styles_of(text: str, piece: str) -> str:
    line = MarkdownDocument().settled(text).lines(80)[0].content
    start = line.plain.index(piece)
    return " ".join(str(span.style) for span in line.spans if span.start <= start < span.end)


@pytest.mark.parametrize(
    ("text", "piece", "style"),
    [
        ("a **b** c", "b", "bold"),
        ("a *b* c", "b", "italic"),
        ("a ***b*** c", "b", "italic bold"),
        ("a ~~b~~ c", "b", "strike"),
        ("# a `b`", "b", "bold underline $text-primary $text-accent"),
        ("[b](http://x)", "b", "underline"),
    ],
)
def test_styles_add_up(text: str, piece: str, style: str) -> None:
    assert styles_of(text, piece) == style


@pytest.mark.parametrize(
    "text", ["[/x] stays", "[bold]no markup[/bold]", '{"on": [true, false]}', "[00] [#12] [/]", "a <b>c</b> &copy; d"]
)
def test_what_is_not_markdown_is_literal(text: str) -> None:
    """T01, T02."""
    assert shown(text) == [text.replace("&copy;", "©")]


def test_nothing_in_it_acts_on_the_terminal() -> None:
    """T06: also where Markdown itself would put the character in."""
    text = "a\x1b[2J `b\x1b]0;hi\x07` [c\x9b](http://\x1bx) &#27; &#x9b;\n\n```\x1b\nd\x1bc\n```\n\n"
    text += "<p\x1b>\n\n| e\x1b |\n|-|\n|f\x9b|"
    for line in MarkdownDocument().settled(text).lines(200):
        assert line.content.plain.isprintable()


def test_addresses_are_shown_and_are_no_links() -> None:
    assert shown("[click](javascript:alert) [x](http://x) <http://y>", 80) == [
        "[click](javascript:alert) x (http://x) http://y"
    ]
    for line in MarkdownDocument().settled("[x](http://x)").lines(80):
        assert not any("link" in str(span.style) or "@click" in str(span.style) for span in line.content.spans)


@given(st.integers(0, len(SAMPLE)), st.integers(0, len(SAMPLE)))
def test_a_text_that_grew_looks_like_one_that_was_there_at_once(first: int, second: int) -> None:
    document = MarkdownDocument()
    for end in sorted((first, second)):
        document = document.grown(SAMPLE[:end])
    document = document.settled(SAMPLE)
    assert [line.content.plain for line in document.lines(40)] == [
        line.content.plain for line in MarkdownDocument().settled(SAMPLE).lines(40)
    ]


def test_growing_a_character_at_a_time_changes_nothing() -> None:
    document = MarkdownDocument()
    for end in range(len(SAMPLE) + 1):
        document = document.grown(SAMPLE[:end])
    assert [line.content.plain.rstrip() for line in document.settled(SAMPLE).lines(40)] == shown(SAMPLE)


def test_only_the_last_element_is_parsed_again() -> None:
    text = "A paragraph.\n\n" * 1000
    document = MarkdownDocument().grown(text + "The last")
    assert document.cost(text + "The last one") == len("The last one")
    assert document.cost("another text") == len("another text")


def test_links_that_are_defined_at_the_end_are_found() -> None:
    text = "See [this][1].\n\nMore.\n\n[1]: http://x.y\n"
    document = MarkdownDocument()
    for end in range(len(text) + 1):
        document = document.grown(text[:end])
    assert document.settled(text).lines(80)[0].content.plain == "See this (http://x.y)."


def test_another_text_replaces_what_was_there() -> None:
    document = MarkdownDocument().grown("One.\n\nTwo.").grown("Three.")
    assert [line.content.plain for line in document.lines(80)] == ["Three."]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_all_newlines_are_newlines(newline: str) -> None:
    text = newline.join(["One.", "", "Two.", "", "Three."])
    document = MarkdownDocument()
    for end in range(len(text) + 1):
        document = document.grown(text[:end])
    assert [line.content.plain for line in document.lines(80)] == ["One.", "", "Two.", "", "Three."]


@given(st.text(alphabet="ab日🙂 \n\t#*_`>-|[]()!~1.<&;:\\\x1b\x9b\ud83d", max_size=200), st.integers(1, 60))
def test_any_text_fits_any_width(text: str, width: int) -> None:
    room = max(width, 40)
    for line in MarkdownDocument().grown(text).settled(text).lines(room):
        assert line.content.cell_length <= room + 2
        assert line.content.plain.isprintable()
    MarkdownDocument().settled(text).lines(width)


def test_a_copy_has_the_newlines_that_were_written() -> None:
    text = "A paragraph that is broken over lines.\n\n- one item that is broken\n- two"
    lines = MarkdownDocument().settled(text).lines(16)
    assert copied(lines, (0, 0), (len(lines) - 1, 99)) == text.replace("- ", "• ")


def test_a_copy_of_code_is_the_code() -> None:
    text = "> - x\n>   ```python\n>   if x:\n>       y = 'long enough to be folded'\n>   ```"
    lines = MarkdownDocument().settled(text).lines(24)
    assert copied(lines, (1, 0), (len(lines) - 1, 99)) == "if x:\n    y = 'long enough to be folded'"


def test_a_copy_of_a_quote_is_without_its_bars() -> None:
    lines = MarkdownDocument().settled("> one\n>\n> > two that is broken").lines(14)
    assert copied(lines, (0, 0), (len(lines) - 1, 99)) == "one\n\ntwo that is broken"


def test_a_part_of_a_line_is_copied_by_characters() -> None:
    """T12."""
    lines = MarkdownDocument().settled("一二三四").lines(80)
    assert copied(lines, (0, 1), (0, 3)) == "二三"
