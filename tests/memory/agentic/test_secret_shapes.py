"""What looks like a secret, and what only reads like one. The examples are put together, so that no scanner minds."""

from __future__ import annotations

import pytest

from memory.agentic.concerns import find_concerns
from memory.agentic.secret_shapes import find_secrets


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("-----BEGIN " + "OPENSSH PRIVATE KEY-----", "a private key"),
        ("-----BEGIN " + "PRIVATE KEY-----", "a private key"),
        ("AKIA" + "QWERTYUIOP123456", "an AWS access key"),
        ("ghp_" + "a1B2" * 9, "a GitHub token"),
        ("github_pat_" + "a1B2c3" * 5, "a GitHub token"),
        ("glpat-" + "a1B2c" * 4, "a GitLab token"),
        ("xoxb-" + "1234567890-abcdef", "a Slack token"),
        ("AIza" + "a1B2c" * 7, "a Google API key"),
        ("sk_live_" + "a1B2" * 5, "a Stripe key"),
        ("sk-proj-" + "a1B2" * 8, "an API key"),
        ("sk-ant-" + "api03-" + "a1B2" * 8, "an API key"),
        ("hf_" + "aBcD1" * 7, "a Hugging Face token"),
        ("npm_" + "a1B2" * 9, "an npm token"),
        ("eyJhbGciOiJIUzI1" + ".eyJzdWIiOiIxMjM0" + ".SflKxwRJSMeKKF2QT4", "a signed token"),
        ("postgres://bob:" + "tr0ub4dor@db.local/x", "a password in an address"),
        ("my password is " + "hunter2", "a password"),
        ("Password: " + "s3cr3t!pw", "a password"),
        ('"api_key": "' + 'abc123def456"', "a password"),
        ("**Passwort**: " + "Sommer2024!", "a password"),
        ("WLAN 密码是 " + "abc12345", "a password"),
    ],
)
def test_shapes_of_secrets(text: str, kind: str) -> None:
    (found,) = find_secrets(f"one\n{text}\nthree")
    assert (found.kind, found.line) == (kind, 2)
    assert text not in repr(found)


@pytest.mark.parametrize(
    "text",
    [
        "The password is stored in 1Password",
        "the password is 8 characters long",
        "password is required; passwords are never saved",
        "password: ********, or <your password>",
        "token: 4096 per request",
        "api_key = os.environ['KEY'] or $API_KEY2 or API_KEY_2",
        "secret: see vault/prod",
        "AKIA" + "IOSFODNN7EXAMPLE",
        "sk-learn-is-a-library-for-machine-learning",
        "https://example.org:8080/a@b and https://user@example.org/x1",
        "passport: 12345678; compass is 2x better",
        "Likes oolong. Lives in Hangzhou, 310000. Phone +86 571 1234567.",
        "密码是什么？不知道",
        "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "uuid 123e4567-e89b-12d3-a456-426614174000",
    ],
)
def test_ordinary_notes_are_no_secrets(text: str) -> None:
    assert find_secrets(text) == []


@pytest.mark.parametrize("piece", ["a.", "a-", "sk-", "eyJ", "password: ", "x://a:", "glpat-", "AIza", "密码"])
def test_a_very_long_text_is_looked_through_in_bounded_time(piece: str) -> None:
    find_secrets(piece * (400_000 // len(piece)))


def test_only_what_is_new_is_a_concern() -> None:
    secret = "password: " + "hunter22"
    assert find_concerns(None, f"a\n{secret}".encode()) == ["line 2 holds what looks like a password"]
    assert find_concerns(secret.encode(), f"more\n{secret}".encode()) == []


@pytest.mark.parametrize(
    ("before", "after", "is_concern"),
    [
        (b"x" * 1000, b"x" * 499, True),
        (b"x" * 1000, b"x" * 500, False),
        (b"x" * 1000, None, True),
        (b"x" * 99, b"", False),
        (None, b"", False),
    ],
)
def test_losing_more_than_half_is_a_concern(before: bytes | None, after: bytes | None, is_concern: bool) -> None:
    assert bool(find_concerns(before, after)) is is_concern
