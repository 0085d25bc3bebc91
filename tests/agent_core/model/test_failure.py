"""What an endpoint says when it refuses, and what a person is told."""

import pytest

from agent_core.errors import (
    ContextOverflow,
    ModelBadRequest,
    ModelNotFound,
    ModelOverloaded,
    ModelUnauthorized,
)
from agent_core.model.endpoint import Endpoint
from agent_core.model.failure import Failure, FailureReader, root_cause
from agent_core.model.limits import RetryPolicy
from agent_core.secret import Secret

KEY = "sk-very-secret"
READER = FailureReader(Endpoint("http://127.0.0.1:9/v1"), "m", Secret(KEY))


def refused(status: int, body: object = "", **headers: str) -> Failure:
    return READER.refused(status, body, headers)


OVERFLOWS = [
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
    "the request exceeds the available context size (4096). try increasing it",
    "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
    "prompt is too long: 200251 tokens > 200000 maximum",
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
    "Please reduce the length of the messages or completion.",
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    "Input is too long for requested model.",
    "Your request exceeded model token limit: 262144",
    "invalid params, context window exceeds limit",
    "The number of tokens to keep from the initial prompt is greater than the context length",
    "Range of input length should be [1, 129024]",
    "Prompt 超长",
]


@pytest.mark.parametrize("said", OVERFLOWS)
@pytest.mark.parametrize("status", [400, 500])
def test_an_overflow_is_recognised_in_many_wordings(status, said):
    failure = refused(status, {"message": said})
    assert isinstance(failure.error, ContextOverflow)
    assert not failure.transient


def test_an_overflow_is_recognised_by_its_code_and_by_its_status():
    assert isinstance(refused(400, {"message": "no", "code": "context_length_exceeded"}).error, ContextOverflow)
    assert isinstance(refused(413, "<html><title>413 Request Entity Too Large</title></html>").error, ContextOverflow)


@pytest.mark.parametrize(
    ("status", "body", "error", "transient"),
    [
        (401, {"message": "bad key"}, ModelUnauthorized, False),
        (403, {"message": "not in your region"}, ModelUnauthorized, False),
        (404, {"message": "no such thing"}, ModelNotFound, False),
        (400, {"message": "Model Not Exist"}, ModelNotFound, False),
        (400, {"message": "x is not a valid model ID"}, ModelNotFound, False),
        (402, {"message": "Insufficient Balance"}, ModelOverloaded, False),
        (429, {"message": "You exceeded your current quota", "code": "insufficient_quota"}, ModelOverloaded, False),
        (429, {"message": "Rate limit: 10,000 tokens per minute, context length"}, ModelOverloaded, True),
        (408, "", ModelOverloaded, True),
        (500, "", ModelOverloaded, True),
        (503, {"message": "loading model"}, ModelOverloaded, True),
        (529, {"message": "overloaded"}, ModelOverloaded, True),
        (400, {"message": "temperature must be 1"}, ModelBadRequest, False),
        (422, {"detail": [{"loc": ["body"], "msg": "field required"}]}, ModelBadRequest, False),
    ],
)
def test_every_status_has_its_error(status, body, error, transient):
    failure = refused(status, body)
    assert type(failure.error) is error
    assert failure.transient is transient


def test_credit_that_is_used_up_does_not_count_as_retryable():
    assert not refused(402, "Insufficient Balance").error.retryable
    assert refused(429, "slow down").error.retryable


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"error": {"message": "a b", "code": None}}, "a b"),
        ({"error": "a b"}, "a b"),
        ({"message": "a\n b"}, "a b"),
        ({"detail": "a b"}, "a b"),
        ("a\r\nb", "a b"),
        ("<html><head><title>Bad gateway</title></head><body>...", "Bad gateway"),
        ("<!doctype html><p>no", "a web page"),
        ({"message": "a", "type": "server_error"}, "a (server_error)"),
        (None, ""),
        ({"error": {"odd": 1}}, '{"odd": 1}'),
        ([{"error": {"message": "a b"}}], "a b"),
        ({"detail": [{"loc": ["body", 1], "msg": "a"}, {"loc": ["x"], "msg": "b"}]}, "body.1: a; x: b"),
        ({"errors": [{"message": "a b"}], "success": False}, "a b"),
        ({"base_resp": {"status_code": 1004, "status_msg": "a b"}}, "a b"),
        ({"error": True, "message": "a b"}, "a b"),
        ({"error": {"message": '{"error": {"message": "a b"}}'}}, "a b"),
        ({"error": {"message": "Provider failed", "metadata": {"raw": '{"detail": "a b"}'}}}, "Provider failed: a b"),
    ],
)
def test_the_words_are_found_in_any_body_and_are_one_line(body, said):
    assert refused(400, body).said == said


def test_messages_are_one_line_of_bounded_length_without_the_key():
    failure = refused(401, {"message": f"Incorrect API key {KEY}.\n" + "x" * 100_000})
    assert KEY not in str(failure.error)
    assert "\n" not in str(failure.error)
    assert len(str(failure.error)) < 500


def test_a_missing_key_is_told_from_a_refused_one():
    keyless = FailureReader(READER.endpoint, "m", Secret(""))
    assert "none is set" in str(keyless.refused(401, "").error)
    assert "refused the API key" in str(refused(401).error)


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"error": {"code": 502, "message": "worker limit"}}, ModelOverloaded),
        ({"error": {"code": "429", "message": "slow"}}, ModelOverloaded),
        ({"error": {"type": "invalid_request_error", "message": "prompt is too long"}}, ContextOverflow),
        ({"error": {"type": "authentication_error", "message": "who?"}}, ModelUnauthorized),
        ({"error": {"code": 0, "message": "odd"}}, ModelOverloaded),
        ({"error": {"code": {"a": 1}, "message": "odd"}}, ModelOverloaded),
        ({"error": "overloaded"}, ModelOverloaded),
        ("overloaded", ModelOverloaded),
        ({"code": True, "message": "odd"}, ModelOverloaded),
        ({"error": {"code": "²", "message": "odd"}}, ModelOverloaded),
        ({"error": {"code": "9" * 5_000, "message": "odd"}}, ModelOverloaded),
        ({"error": {"code": "502.0", "message": "odd"}}, ModelOverloaded),
        ([{"error": {"code": 429, "message": "slow"}}], ModelOverloaded),
        ({"error": {"code": 400, "message": "no", "metadata": {"raw": "context length is 9"}}}, ContextOverflow),
    ],
)
def test_errors_inside_a_stream_are_judged_by_their_code(body, error):
    """S09, S11."""
    assert type(READER.broken(body).error) is error


class TestRetries:
    POLICY = RetryPolicy(retries=3, backoff=1.0, longest=3.0)

    def test_waits_double_up_to_the_longest(self):
        delays = [self.POLICY.delay(attempt, refused(500)) for attempt in (1, 2, 3, 4)]
        assert delays == [1.0, 2.0, 3.0, None]

    @pytest.mark.parametrize(
        ("header", "delay"),
        [("2", 2.0), ("0.5", 0.5), ("-1", 0.0), ("3600", None), ("soon", 1.0), ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0)],
    )
    def test_the_endpoints_wish_is_honoured_within_reason(self, header, delay):
        assert self.POLICY.delay(1, refused(429, "", **{"retry-after": header})) == delay

    def test_what_cannot_get_better_is_not_tried_again(self):
        assert self.POLICY.delay(1, refused(400, "no")) is None


class TestRootCause:
    def test_is_the_innermost_that_says_something(self):
        outer = RuntimeError("Connection error.")
        outer.__cause__ = OSError(113, "No route to host")
        outer.__cause__.__context__ = ValueError()
        assert root_cause(outer) == "No route to host"

    def test_looks_into_groups_and_does_not_go_in_circles(self):
        group = ExceptionGroup("all failed", [ConnectionRefusedError(111, "x"), OSError("y")])
        assert root_cause(group) == "connection refused"
        one, other = ValueError("one"), ValueError("other")
        one.__context__, other.__context__ = other, one
        assert root_cause(one) == "other"
