"""Finding what looks like a password or a key in text, by its shape. Nothing that is found is ever repeated."""

from __future__ import annotations

import re
from typing import NamedTuple


class SecretFound(NamedTuple):
    """Where something secret seems to stand: what it looks like, its line from 1, and a hash to know it again."""

    kind: str
    line: int
    mark: int


_SHAPES: tuple[tuple[str, str], ...] = (
    ("a private key", r"-----BEGIN (?:[A-Z]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"),
    ("an AWS access key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("a GitHub token", r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})"),
    ("a GitLab token", r"\bglpat-[\w-]{20,}"),
    ("a Slack token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("a Google API key", r"\bAIza[\w-]{35}\b"),
    ("a Stripe key", r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    ("an API key", r"\bsk-(?=[\w-]{0,200}[0-9])(?=[\w-]{0,200}[A-Za-z])[\w-]{20,}"),
    ("a Hugging Face token", r"\bhf_[A-Za-z0-9]{30,}"),
    ("an npm token", r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("a PyPI token", r"\bpypi-[\w-]{40,}"),
    ("a SendGrid key", r"\bSG\.[\w-]{16,}\.[\w-]{32,}"),
    ("a signed token", r"\beyJ[\w-]{10,4000}\.eyJ[\w-]{10,}\.[\w-]{10,}"),
    ("a password in an address", r"\b[a-z][a-z0-9+.-]{0,30}://[^\s/:@]{1,100}:(?P<url>[^\s/@]{3,200})@"),
    (
        "a password",
        (
            r"(?i:\b(?:pass(?:word|phrase|wort|code)?|pwd|secret|api[ _-]?key|"
            r"(?:access|auth|bearer)[ _-]?(?:key|token))|密码|口令|密钥)"
            r"[\"'`*]{0,2}\s*(?:[:=：]|\bis\b|是|为)\s*[\"'`*]{0,2}"
            # Letters with a digit or a sign among them: no word, number, path or name of a variable.
            r"(?P<value>(?=[^\s\"'`]{0,200}[A-Za-z])(?=[^\s\"'`]{0,200}[0-9!@#%^&+=~])"
            r"[^\s\"'`<>{}()\[\]$/\\,;]{6,200})"
        ),
    ),
)
_SECRET = re.compile("|".join(f"(?P<kind{number}>{shape})" for number, (_, shape) in enumerate(_SHAPES)))
_PLACEHOLDER = re.compile(
    r"(?i:example|placeholder|redacted|your|change.?me|dummy|x{4}|\*{3}|\.{3}|…|•)|^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$"
)


def find_secrets(text: str) -> list[SecretFound]:
    """What looks like a secret, in order; placeholders, as documents show them, are none."""
    found = []
    for match in _SECRET.finditer(text):
        secret = match["value"] or match["url"] or match[0]
        if not _PLACEHOLDER.search(secret):
            kind, _ = _SHAPES[next(number for number in range(len(_SHAPES)) if match[f"kind{number}"])]
            found.append(SecretFound(kind, text.count("\n", 0, match.start()) + 1, hash(secret)))
    return found
