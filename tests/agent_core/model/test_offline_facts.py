"""What is to be remembered is cut into facts of one kind each."""

import pytest

from agent_core.model.offline.facts import facts_of

USER, FEEDBACK, PROJECT, REFERENCE = "user", "feedback", "project", "reference"


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (
            "I live in Hangzhou and like short answers",
            [(USER, "I live in Hangzhou"), (FEEDBACK, "I like short answers")],
        ),
        ("我住在杭州，并且偏好简洁的中文回答", [(USER, "我住在杭州"), (FEEDBACK, "我偏好简洁的中文回答")]),
        ("my name is Bob and I work at Acme", [(USER, "my name is Bob"), (USER, "I work at Acme")]),
        ("我叫小明，住在杭州，喜欢喝茶", [(USER, "我叫小明"), (USER, "我住在杭州"), (USER, "我喜欢喝茶")]),
        ("I'm vegetarian and don't drink", [(USER, "I'm vegetarian"), (USER, "I don't drink")]),
        ("Tom and I like chess", [(USER, "Tom and I like chess")]),
        ("My wife and I like chess", [(USER, "My wife and I like chess")]),
        ("Tom and Jerry are my cats", [(USER, "Tom and Jerry are my cats")]),
        ("I like tea but hate coffee", [(USER, "I like tea but hate coffee")]),
        ("I am a project manager", [(USER, "I am a project manager")]),
        ("call me Bob", [(USER, "call me Bob")]),
        ("answer in Chinese", [(FEEDBACK, "answer in Chinese")]),
        ("don't use emojis", [(FEEDBACK, "don't use emojis")]),
        ("you should be brief", [(FEEDBACK, "you should be brief")]),
        ("请用中文回答", [(FEEDBACK, "请用中文回答")]),
        ("the release moved to Monday", [(PROJECT, "the release moved to Monday")]),
        ("we ship on Friday", [(PROJECT, "we ship on Friday")]),
        ("项目周五截止", [(PROJECT, "项目周五截止")]),
        ("our repo is at https://example.org/x", [(REFERENCE, "our repo is at https://example.org/x")]),
        ("the wifi code is 1234", [(REFERENCE, "the wifi code is 1234")]),
        ("🙂", [(REFERENCE, "🙂")]),
        ("I like\n- tea and I like\n- cake", [(USER, "I like\n- tea and I like\n- cake")]),
    ],
)
def test_each_fact_gets_its_kind(text: str, facts: list[tuple[str, str]]) -> None:
    assert [(fact.type, fact.text) for fact in facts_of(text)] == facts


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("I like short answers because I read on a phone", "I read on a phone"),
        ("请用中文回答，因为我的英文不好", "我的英文不好"),
        ("be brief", ""),
    ],
)
def test_a_reason_that_was_given_is_found(text: str, reason: str) -> None:
    assert facts_of(text)[0].reason == reason
