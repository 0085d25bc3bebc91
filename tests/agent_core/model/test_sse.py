"""Server-sent events out of bytes that are split anywhere."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from agent_core.model.sse import EventDecoder, ServerSentEvent

STREAM = (
    b': keep-alive\n\ndata: {"a": "1"}\n\nevent: error\r\ndata: one\r\ndata:two\r\n\r\n\n\n'
    b"id: 7\ndata:  \xf0\x9f\x99\x82\xe2\x80\xa8\xc2\x85 \r\rdata: [DONE]\n\n"
)
EVENTS = [
    ServerSentEvent("message", '{"a": "1"}'),
    ServerSentEvent("error", "one\ntwo"),
    ServerSentEvent("message", " 🙂\u2028\x85 "),
    ServerSentEvent("message", "[DONE]"),
]


def decode(*pieces: bytes) -> list[ServerSentEvent]:
    decoder = EventDecoder()
    events = [event for piece in pieces for event in decoder.feed(piece)]
    return events + decoder.close()


def test_fields_comments_names_and_all_line_ends():
    assert decode(STREAM) == EVENTS


@given(st.lists(st.integers(0, len(STREAM))))
def test_where_the_bytes_are_split_makes_no_difference(cuts):
    """S15: also inside an emoji, a line end or a field's name."""
    edges = [0, *sorted(cuts), len(STREAM)]
    assert decode(*(STREAM[start:end] for start, end in pairwise(edges))) == EVENTS


def test_one_byte_at_a_time():
    """S15: the extreme of splitting."""
    assert decode(*(bytes([byte]) for byte in STREAM)) == EVENTS


def test_line_separators_that_json_allows_do_not_end_a_line():
    assert decode('data: {"a": "x\u2028y\x85z\x0b"}\n\n'.encode()) == [
        ServerSentEvent("message", '{"a": "x\u2028y\x85z\x0b"}')
    ]


def test_a_last_event_without_its_blank_line_counts():
    assert decode(b"data: 1\n") == [ServerSentEvent("message", "1")]
    assert decode(b"data: 1") == [ServerSentEvent("message", "1")]
    assert decode(b"data: 1\r") == [ServerSentEvent("message", "1")]


def test_an_error_field_is_an_error_event():
    assert decode(b'error: {"code": 500}\n\n') == [ServerSentEvent("error", '{"code": 500}')]


def test_bytes_that_are_not_utf8_are_replaced():
    assert decode(b"data: \xff\n\n") == [ServerSentEvent("message", "\ufffd")]


def test_a_byte_order_mark_before_the_first_line_costs_nothing():
    """S15."""
    assert decode(b"\xef", b"\xbb\xbf" + b"data: 1\n\ndata: \xef\xbb\xbf2\n\n") == [
        ServerSentEvent("message", "1"),
        ServerSentEvent("message", "\ufeff2"),
    ]
