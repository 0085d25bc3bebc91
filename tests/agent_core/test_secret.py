"""A secret shows itself only when asked to."""

from agent_core.secret import Secret


def test_a_secret_is_in_no_representation_of_it():
    secret = Secret("sk-very-secret")
    assert "very" not in f"{secret} {secret!r} {[secret]}"
    assert secret.reveal() == "sk-very-secret"


def test_a_secret_is_taken_out_of_texts():
    secret = Secret("sk-12345")
    assert secret.occurs_in("key sk-12345 refused")
    assert secret.removed_from("key sk-12345 refused") == "key … refused"


def test_a_placeholder_does_not_spoil_messages():
    assert Secret("test").removed_from("this is a test") == "this is a test"


def test_no_secret_is_falsy_and_occurs_nowhere():
    assert not Secret("")
    assert not Secret("").occurs_in("anything")
    assert Secret("").removed_from("anything") == "anything"
