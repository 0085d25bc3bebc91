"""Quirks of endpoints: the table, what a refusal teaches, and windows that endpoints report."""

import pytest

from agent_core.model.endpoint import Endpoint
from agent_core.model.profile import EndpointProfile, learn, profile_for, reported_context_size

PLAIN = EndpointProfile()
CALL_ONLY = {"role": "assistant", "content": None, "tool_calls": [{"id": "a"}]}
WITH_CALL = {"messages": [CALL_ONLY]}


class TestEndpoint:
    @pytest.mark.parametrize(
        ("base_url", "shown"),
        [
            ("https://api.openai.com/v1", "https://api.openai.com/v1"),
            ("http://ana:secret@10.0.0.1:8000/v1/?token=secret#x", "http://10.0.0.1:8000/v1"),
            ("localhost:1234", "localhost:1234"),
            ("http://[1", "http://[1"),
        ],
    )
    def test_is_shown_without_what_may_be_secret(self, base_url, shown):
        endpoint = Endpoint(base_url)
        assert str(endpoint) == shown
        assert "secret" not in repr(endpoint)

    @pytest.mark.parametrize(
        ("base_url", "local"),
        [
            ("http://localhost:11434/v1", True),
            ("http://127.0.0.9:1/v1", True),
            ("http://[::1]:1/v1", True),
            ("http://box.localhost/v1", True),
            ("http://10.0.0.1/v1", False),
            ("https://localhost.example.com/v1", False),
            ("nonsense", False),
        ],
    )
    def test_knows_whether_it_is_on_this_machine(self, base_url, local):
        assert Endpoint(base_url).is_local is local


class TestTable:
    def test_openai(self):
        profile = profile_for(Endpoint("https://api.openai.com/v1"), "gpt-4o-mini")
        assert (profile.context_size, profile.max_tokens_field) == (128_000, "max_completion_tokens")

    def test_an_unknown_model_of_a_known_host_has_no_window(self):
        profile = profile_for(Endpoint("https://api.openai.com/v1"), "brand-new")
        assert (profile.context_size, profile.max_tokens_field) == (None, "max_completion_tokens")

    def test_deepseek_wants_its_reasoning_back(self):
        assert profile_for(Endpoint("https://api.deepseek.com"), "any").reasoning_field == "reasoning_content"

    @pytest.mark.parametrize("url", ["http://localhost:8080/v1", "https://api.openai.com.evil.example/v1", "junk"])
    def test_anything_else_is_plain(self, url):
        assert profile_for(Endpoint(url), "gpt-4o") == PLAIN


class TestLearning:
    def test_stream_usage(self):
        learnt = learn(PLAIN, 400, "Unrecognized request argument: stream_options", {"stream_options": {}})
        assert learnt is not None
        assert not learnt.stream_usage

    def test_the_name_of_the_limit_either_way(self):
        said = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
        learnt = learn(PLAIN, 400, said, {"max_tokens": 5})
        assert learnt is not None
        assert learnt.max_tokens_field == "max_completion_tokens"
        back = learn(learnt, 422, "max_completion_tokens: extra fields not permitted", {"max_completion_tokens": 5})
        assert back == PLAIN

    def test_reasoning_that_must_go_back(self):
        """S12: learnt from the refusal too."""
        learnt = learn(PLAIN, 400, "The `reasoning_content` must be passed back to the API.", WITH_CALL)
        assert learnt is not None
        assert learnt.reasoning_field == "reasoning_content"

    def test_reasoning_that_is_not_wanted(self):
        profile = EndpointProfile(reasoning_field="reasoning_content")
        learnt = learn(profile, 422, "messages.1.reasoning_content: extra fields not permitted", WITH_CALL)
        assert learnt == PLAIN

    @pytest.mark.parametrize(
        "said",
        [
            "content: Input should be a valid string",
            "Invalid value for 'content': expected a string",
            "messages[1] must be a string, got null",
            'can only concatenate str (not "NoneType") to str',
            "",
        ],
    )
    def test_the_content_of_messages_that_only_call(self, said):
        """S28: null refused."""
        learnt = learn(PLAIN, 400, said, WITH_CALL)
        assert learnt is not None
        assert learnt.call_only_content == ""

    def test_the_content_of_messages_that_only_call_the_other_way(self):
        """S28: the empty string refused."""
        request = {"messages": [{**CALL_ONLY, "content": ""}]}
        assert learn(EndpointProfile(call_only_content=""), 400, "text content must not be empty", request) == PLAIN

    def test_turns(self):
        learnt = learn(PLAIN, 500, "Conversation roles must alternate user/assistant/user/assistant/...", {})
        assert learnt is not None
        assert learnt.alternating_roles

    @pytest.mark.parametrize(
        ("status", "said", "request_"),
        [
            (400, "the content is bad", {"messages": [{"role": "user", "content": "x"}]}),
            (400, "temperature must be 1", WITH_CALL),
            (400, "", {"messages": []}),
            (401, "content", WITH_CALL),
            (None, "content", WITH_CALL),
            (400, "stream_options", {}),
        ],
    )
    def test_nothing_is_learnt_from_a_refusal_that_no_quirk_explains(self, status, said, request_):
        """S28: a 400 is never blindly repeated."""
        assert learn(PLAIN, status, said, request_) is None


class TestReportedWindow:
    @pytest.mark.parametrize(
        "facts",
        [
            {"context_length": 8192},
            {"context_window": 8192},
            {"max_model_len": 8192},
            {"max_context_length": 8192},
            {"meta": {"n_ctx_train": 8192}},
            {"meta": {"n_ctx": 8192, "n_ctx_train": 131_072}},
        ],
    )
    def test_wherever_it_is_said(self, facts):
        answer = {"data": [{"id": "other", "context_length": 1}, {"id": "m", **facts}]}
        assert reported_context_size(answer, "m") == 8192

    def test_the_only_model_answers_by_any_name(self):
        assert reported_context_size({"data": [{"id": "/models/x.gguf", "max_model_len": 4096}]}, "m") == 4096

    @pytest.mark.parametrize(
        "answer",
        [
            None,
            [],
            "no",
            {},
            {"data": None},
            {"data": [None]},
            {"data": [{"id": "m", "context_length": "big"}]},
            {"data": [{"id": "m", "meta": None}]},
            {"data": [{"id": "a", "max_model_len": 1}, {"id": "b"}]},
        ],
    )
    def test_is_unknown_when_nothing_usable_is_said(self, answer):
        assert reported_context_size(answer, "m") is None
