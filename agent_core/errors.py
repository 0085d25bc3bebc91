"""The package's exceptions. Each carries one line for people: what happened and what to do.

MnemoscopeError
├── ModelError                the endpoint or the model failed
│   ├── ModelUnreachable      no connection: wrong address, server down, DNS, TLS
│   ├── ModelUnauthorized     401 or 403: the key is missing or refused
│   ├── ModelNotFound         404: no such model, or no such path
│   ├── ModelOverloaded       429 or 5xx, also when said inside the stream
│   ├── ModelTimeout          nothing came within the time limit
│   ├── ModelInterrupted      the stream broke off before it was complete
│   ├── ContextOverflow       the prompt does not fit the model's window
│   └── ModelBadRequest       any other refusal of the request
├── ReplyError                a reply failed for any other reason, which is attached as the cause
├── StructuredOutputError     the model gave no answer of the wanted form
├── ToolError                 a tool refuses its arguments or cannot do what was asked
└── StorageError              a memory or session store cannot be read or written
"""

from __future__ import annotations


class MnemoscopeError(Exception):
    """Base of everything this package raises on purpose; `str()` of it is fit to be shown to a person."""

    @classmethod
    def of(cls, error: Exception) -> MnemoscopeError:
        """The error itself if it is one of ours, else a `ReplyError` with it as the cause."""
        if isinstance(error, MnemoscopeError):
            return error
        wrapped = ReplyError(f"The reply failed: {described(error)}")
        wrapped.__cause__ = error
        return wrapped


class ModelError(MnemoscopeError):
    """A model call failed. `retryable` tells whether the same request may succeed later."""

    retryable = False


class ModelUnreachable(ModelError):
    """No connection to the endpoint could be made."""

    retryable = True


class ModelUnauthorized(ModelError):
    """The endpoint refused the key (401 or 403)."""


class ModelNotFound(ModelError):
    """The endpoint knows neither this model nor, perhaps, this path (404)."""


class ModelOverloaded(ModelError):
    """The endpoint is busy, limits the rate, or failed itself (429 or 5xx)."""

    retryable = True


class ModelTimeout(ModelError):
    """The endpoint stayed silent longer than the time limit."""

    retryable = True


class ModelInterrupted(ModelError):
    """The stream ended before the answer was complete."""


class ContextOverflow(ModelError):
    """The endpoint said that the prompt does not fit its window."""


class ModelBadRequest(ModelError):
    """The endpoint refused the request for another reason; repeating it unchanged is useless."""


class ReplyError(MnemoscopeError):
    """A reply failed for a reason that has no class of its own; the cause is attached."""


class StructuredOutputError(MnemoscopeError):
    """The model did not produce an object of the requested schema."""


class ToolError(MnemoscopeError):
    """A tool cannot do what was asked; the message goes to the model as the call's result."""


class StorageError(MnemoscopeError):
    """A store cannot be read or written; what it held before is unharmed."""


def described(error: BaseException) -> str:
    """What somebody else's exception says, behind the name of its class."""
    words = str(error)
    return f"{type(error).__name__}: {words}" if words else type(error).__name__
