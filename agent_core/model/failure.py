"""From what went wrong at an endpoint to an error for people, and to whether trying again makes sense."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import Any

from agent_core.errors import (
    ContextOverflow,
    ModelBadRequest,
    ModelError,
    ModelInterrupted,
    ModelNotFound,
    ModelOverloaded,
    ModelTimeout,
    ModelUnauthorized,
    ModelUnreachable,
)
from agent_core.model.endpoint import Endpoint
from agent_core.secret import Secret
from agent_core.text import first_line, shorten

_OVERFLOW = re.compile(
    r"context[_ ]length|context size|context window|maximum (?:prompt|model|input) length|range of input length"
    r"|(?:prompt|input) is too long|too many (?:input |prompt )?tokens|(?:input|prompt) token count.*exceed"
    r"|exceeded model token limit|reduce the length of the (?:messages|prompt|input)|must have less than \d+ tokens"
    r"|tokens to keep from the initial prompt|超长",
    re.IGNORECASE,
)
_RATE_WORDS = re.compile(r"rate limit|per minute|\btpm\b|\brpm\b|\bquota\b", re.IGNORECASE)
_NO_SUCH_MODEL = re.compile(
    r"model[_ ]not[_ ](?:found|exist)|no such model|not a valid model|unknown model|invalid model"
    r"|model\b.{0,80}\b(?:does not exist|not found|is not available)",
    re.IGNORECASE,
)
_NO_CREDIT = re.compile(r"insufficient[_ ](?:quota|balance|credit)|billing|exceeded your current quota", re.IGNORECASE)
_DETAIL = 300


class Failure(Exception):
    """A failed attempt.

    Attributes:
        error: for people; what the caller of the model gets.
        status: the HTTP status, or the code that an error inside a stream gave; None when there was none.
        said: the endpoint's own words.
        transient: whether the same request may succeed in a moment.
        retry_after: seconds that the endpoint asked to wait, if it did.
    """

    def __init__(
        self,
        error: ModelError,
        *,
        status: int | None = None,
        said: str = "",
        transient: bool | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(str(error))
        self.error = error
        self.status = status
        self.said = said
        self.transient = error.retryable if transient is None else transient
        self.retry_after = retry_after


class FailureReader:
    """Makes failures for one endpoint and model; no message of its holds the key.

    Args:
        endpoint: what failed.
        model: the model's name.
        key: the key that was sent.
        redirecting: the endpoint that was called and has redirected to the one that failed, if so.
    """

    def __init__(self, endpoint: Endpoint, model: str, key: Secret, redirecting: Endpoint | None = None) -> None:
        self.endpoint = endpoint
        self.model = model
        self._key = key
        self._redirected = f"{redirecting} redirects there: check the base URL" if redirecting else ""

    def at(self, url: str) -> FailureReader:
        """A reader for where the endpoint has redirected to."""
        return FailureReader(Endpoint(self._clean(url)), self.model, self._key, self.endpoint)

    def refused(self, status: int, body: object, headers: Mapping[str, str] | None = None) -> Failure:
        """The endpoint answered with an HTTP status other than success.

        Args:
            status: the HTTP status.
            body: the decoded JSON, or the text, of the answer.
            headers: of the answer; `retry-after` is looked at.
        """
        said = self._clean(words_in(body) or _dumped(body))
        detail = (f": {said}" if said else "") + (f"; {self._redirected}." if self._redirected else "")
        retry_after = _seconds((headers or {}).get("retry-after"))
        error, transient = self._judge(status, said, detail)
        return Failure(error, status=status, said=said, transient=transient, retry_after=retry_after)

    def broken(self, body: object) -> Failure:
        """The endpoint reported an error inside an answer that had begun as a success."""
        return self.refused(_status_in(body) or 500, body)

    def unreachable(self, error: BaseException) -> Failure:
        """No connection could be made, or it broke before an answer came."""
        reason = self._clean(root_cause(error))
        advice = "is the server running?" if self.endpoint.is_local else "check the address and the network."
        if "certificate" in reason.lower():
            advice = "if a proxy re-signs connections, SSL_CERT_FILE must name its certificate."
        if self._redirected:
            advice = f"{self._redirected}."
        return Failure(ModelUnreachable(f"Cannot reach {self.endpoint} ({reason}); {advice}"))

    def silent(self, seconds: float, *, answering: bool) -> Failure:
        """Nothing came for `seconds`, after the answer had begun or before."""
        when = "stopped in mid-answer: nothing came" if answering else "gave no answer"
        advice = "try again, or raise the time limit if it needs longer."
        return Failure(ModelTimeout(f"{self.endpoint} {when} for {seconds:g} s; {advice}"), transient=False)

    def interrupted(self, what: str) -> Failure:
        """The answer broke off: `what` says how."""
        said = self._clean(what)
        return Failure(
            ModelInterrupted(f"The answer from {self.endpoint} broke off ({said}); try again."),
            said=said,
            transient=True,
        )

    def no_answer(self, content_type: str, body: object) -> Failure:
        """A success that holds something other than an answer, such as a web page or an error of a proxy.

        Args:
            content_type: what it is said to be; empty, or that of a stream, where it does not contradict.
            body: what was found in it, if anything: JSON or a text.
        """
        if status := _status_in(body):
            return self.refused(status, body)
        said = self._clean(words_in(body))
        if content_type in ("", "text/event-stream"):
            if not said:
                return self.interrupted("the connection was closed before an answer came")
            return Failure(ModelError(f"{self.endpoint} gave no answer, but says: {said}"), said=said, transient=True)
        what = f"{self._clean(content_type)} instead of a chat completion" + (f" ({said})" if said else "")
        advice = self._redirected or "check the base URL (it usually ends in /v1)"
        return Failure(ModelNotFound(f"{self.endpoint} answered with {what}; {advice}."), said=said)

    def unexpected(self, error: Exception) -> Failure:
        """The SDK failed in a way that nobody foresaw."""
        return Failure(
            ModelError(f"The call to {self.endpoint} failed: {type(error).__name__}: {self._clean(str(error))}")
        )

    def bad_key(self) -> Failure:
        """The key cannot be sent at all."""
        return Failure(ModelUnauthorized("The API key holds characters that no key has; copy it again."))

    def _judge(self, status: int, said: str, detail: str) -> tuple[ModelError, bool]:
        """The error for a status and the endpoint's words, and whether it is worth trying again."""
        where = str(self.endpoint)
        if status == 413 or (status not in (401, 403, 429) and _OVERFLOW.search(said) and not _RATE_WORDS.search(said)):
            return ContextOverflow(f"The prompt is too long for {self.model} at {where}{detail}"), False
        if status == 402 or (status == 429 and _NO_CREDIT.search(said)):
            return _lasting(ModelOverloaded(f"The account at {where} has no credit left; top it up{detail}")), False
        if status == 401:
            advice = "refused the API key; check it" if self._key else "wants an API key, and none is set"
            return ModelUnauthorized(f"{where} {advice}{detail}"), False
        if status == 403:
            return ModelUnauthorized(f"{where} forbids this; check the API key and what it may use{detail}"), False
        if status == 404 or (400 <= status < 500 and _NO_SUCH_MODEL.search(said)):
            advice = "check the model's name and the address (it usually ends in /v1)"
            return ModelNotFound(f"Found no model {self.model!r} at {where}; {advice}{detail}"), False
        if status == 429:
            return ModelOverloaded(f"{where} limits the rate of requests; wait a moment{detail}"), True
        if status in (408, 409, 425) or status >= 500:
            return ModelOverloaded(f"{where} is overloaded or failed (HTTP {status}); try again later{detail}"), True
        if 300 <= status < 400:
            return ModelNotFound(
                f"{where} has moved (HTTP {status}), and does not say where to; check the base URL"
            ), False
        return ModelBadRequest(f"{where} refused the request (HTTP {status}){detail}"), False

    def _clean(self, text: str) -> str:
        return first_line(self._key.removed_from(" ".join(text.split())), _DETAIL)


def causes(error: BaseException) -> Iterator[BaseException]:
    """The error, what caused it, what caused that, and so on."""
    seen: set[int] = set()
    inner: BaseException | None = error
    while inner is not None and id(inner) not in seen:
        seen.add(id(inner))
        yield inner
        inner = inner.exceptions[0] if isinstance(inner, BaseExceptionGroup) else inner.__cause__ or inner.__context__


def root_cause(error: BaseException) -> str:
    """The innermost words of a chain of exceptions: `connection refused` rather than `Connection error`."""
    words = ""
    for inner in causes(error):
        if isinstance(inner, ConnectionRefusedError):
            return "connection refused"
        if isinstance(inner, TimeoutError):
            return "no connection in time"
        if "peer closed connection" in str(inner):
            return "the connection was closed"
        words = (inner.strerror if isinstance(inner, OSError) else "") or str(inner) or words
    return words or type(error).__name__


def _lasting(error: ModelError) -> ModelError:
    error.retryable = False
    return error


_WORD_KEYS = ("error", "message", "detail", "msg", "errors", "error_msg", "error_message", "status_msg", "base_resp")
"""Where a JSON body says what is wrong: OpenAI's place, FastAPI's, and those of other vendors."""


def words_in(body: object) -> str:
    """What an error body says, whatever its shape: JSON, perhaps in a string, a bare text or a page of HTML.

    Empty where JSON says nothing in one of the usual places.
    """
    if isinstance(body, str):
        return _words_in_text(body.strip())
    if isinstance(body, list):
        return "; ".join(filter(None, map(words_in, body)))
    if not isinstance(body, Mapping):
        return ""
    found = (_with_code(body, words) for key in _WORD_KEYS if (words := words_in(body.get(key))))
    return _with_place(body, _with_upstream(body, next(found, "")))


def _words_in_text(text: str) -> str:
    if text.startswith("<"):
        title = re.search(r"<title[^>]*>(.*?)</title>", text[:10_000], re.IGNORECASE | re.DOTALL)
        return title.group(1) if title else "a web page"
    if text.startswith(("{", "[")):
        with suppress(ValueError, RecursionError):
            text = words_in(json.loads(text)) or text
    return shorten(text, 2_000)


def _dumped(body: object) -> str:
    body = body.get("error", body) if isinstance(body, Mapping) else body
    return shorten(json.dumps(body, ensure_ascii=False, default=str), 2_000) if body else ""


def _with_upstream(body: Mapping[str, Any], words: str) -> str:
    """The words of a router with those of the provider behind it, which tell what is really wrong."""
    metadata = body.get("metadata")
    upstream = words_in(metadata.get("raw")) if isinstance(metadata, Mapping) else ""
    return f"{words}: {upstream}" if words and upstream else words


def _with_place(body: Mapping[str, Any], words: str) -> str:
    """The words with the field of the request that they are about, as FastAPI names it."""
    place = body.get("loc")
    return f"{'.'.join(map(str, place))}: {words}" if words and isinstance(place, list) else words


def _with_code(body: Mapping[str, Any], words: str) -> str:
    """The words with the machine-readable code behind them, where it says more than they do."""
    code = body.get("code") or body.get("type")
    if isinstance(code, str) and code.lower() not in words.lower() and not re.match(r"\d", code):
        return f"{words} ({code})"
    return words


_STATUS_OF_TYPE = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
}


def _status_in(body: object) -> int | None:
    """The HTTP status that an error inside an answer amounts to; None when it does not say."""
    if isinstance(body, list):
        return next(filter(None, map(_status_in, body)), None)
    if not isinstance(body, Mapping):
        return None
    if isinstance(body.get("error"), Mapping):
        return _status_in(body["error"])
    return next(filter(None, (_status(body.get(key)) for key in ("code", "status", "status_code", "type"))), None)


def _status(value: object) -> int | None:
    if isinstance(value, str):
        value = int(value) if re.fullmatch("[45][0-9]{2}", value) else _STATUS_OF_TYPE.get(value)
    return value if isinstance(value, int) and 400 <= value < 600 else None


def _seconds(retry_after: str | None) -> float | None:
    """The seconds that a `Retry-After` header means, given as a number or as a date."""
    if not retry_after:
        return None
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time.time())
    except ValueError:
        return None
