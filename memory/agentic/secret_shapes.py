"""Finding what looks like a password or a key in text, by its shape. Nothing that is found is ever repeated."""

from __future__ import annotations

import re
from typing import NamedTuple


class SecretFound(NamedTuple):
    """Where something secret seems to stand: what it looks like, its line from 1, and a hash to know it again."""

    kind: str
    line: int
    mark: int


# Each begins with letters that are rare, so that looking through a long text is quick; all are bounded.
_SHAPES: tuple[tuple[str, str], ...] = (
    ("a private key", r"-----BEGIN (?:[A-Z]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----"),
    ("an AWS access key", r"AKIA[0-9A-Z]{16}\b"),
    ("an AWS access key", r"ASIA[0-9A-Z]{16}\b"),
    ("a GitHub token", r"gh[pousr]_[A-Za-z0-9]{36,}"),
    ("a GitHub token", r"github_pat_[A-Za-z0-9_]{22,}"),
    ("a GitLab token", r"glpat-[\w-]{20,}"),
    ("a Slack token", r"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("a Google API key", r"AIza[\w-]{35}\b"),
    ("a Stripe key", r"sk_(?:live|test)_[A-Za-z0-9]{16,}"),
    ("a Stripe key", r"rk_(?:live|test)_[A-Za-z0-9]{16,}"),
    ("an API key", r"sk-(?=[\w-]{0,200}[0-9])(?=[\w-]{0,200}[A-Za-z])[\w-]{20,}"),
    ("a Hugging Face token", r"hf_[A-Za-z0-9]{30,}"),
    ("an npm token", r"npm_[A-Za-z0-9]{36}\b"),
    ("a PyPI token", r"pypi-[\w-]{40,}"),
    ("a SendGrid key", r"SG\.[\w-]{16,}\.[\w-]{32,}"),
    ("a signed token", r"eyJ[\w-]{10,400}\.eyJ[\w-]{10,}\.[\w-]{10,}"),
    ("a password in an address", r"://[^\s/:@]{1,100}:(?P<value>[^\s/@]{3,200})@"),
)
_PASSWORD = (
    r"(?i:pass(?:word|phrase|wort|code)?|pwd|secret|api[ _-]?key|(?:access|auth|bearer)[ _-]?(?:key|token)"
    r"|密码|口令|密钥)"
    r"[\"'`*]{0,2}\s{0,9}(?:[:=：]|\bis\b|是|为)\s{0,9}[\"'`*]{0,2}"
    # Letters with a digit or a sign among them: no word, number, path or name of a variable.
    r"(?P<value>(?=[^\s\"'`]{0,200}[A-Za-z])(?=[^\s\"'`]{0,200}[0-9!@#%^&+=~])[^\s\"'`<>{}()\[\]$/\\,;]{6,200})"
)
_PATTERNS = [(kind, re.compile(shape)) for kind, shape in (*_SHAPES, ("a password", _PASSWORD))]
_PLACEHOLDER = re.compile(
    r"(?i:example|placeholder|redacted|your|change.?me|dummy|x{4}|\*{3}|\.{3}|…|•)|^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$"
)


def find_secrets(text: str) -> list[SecretFound]:
    """What looks like a secret, each once, in order; placeholders, as documents show them, are none."""
    found: dict[int, tuple[int, SecretFound]] = {}
    for kind, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            secret = match["value"] if "value" in pattern.groupindex else match[0]
            start = match.start()
            if not _is_within_word(text, start) and not _PLACEHOLDER.search(secret):
                line = text.count("\n", 0, start) + 1
                found.setdefault(hash(secret), (start, SecretFound(kind, line, hash(secret))))
    return [secret for _, secret in sorted(found.values(), key=lambda one: one[0])]


def _is_within_word(text: str, start: int) -> bool:
    around = text[max(start - 1, 0) : start + 1]
    return len(around) == 2 and around.isascii() and around.isalnum()
