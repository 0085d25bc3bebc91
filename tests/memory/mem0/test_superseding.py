from __future__ import annotations

import pytest

from memory.mem0.answers import Fact
from memory.mem0.superseding import replaced_by

REPLACED = [
    ("I now live in Shanghai.", "I live in Hangzhou"),
    ("I've moved to Rome", "I live in Oslo."),
    ("I moved from Hangzhou to Rome", "I live in Hangzhou"),
    ("The user moved to Berlin", "The user lives in Hangzhou."),
    ("Anna works at Beta", "Anna works at Acme"),
    ("My favorite color is now green", "My favorite color is blue"),
    ("The user's email is b@example.org", "My email is a@example.org"),
    ("My sister now lives in Rome", "My sister lives in Oslo"),
    ("我现在住在上海", "我住在杭州"),
    ("我搬到了上海", "用户住在杭州。"),
    ("我在上海的一家公司工作", "我在杭州的一家公司工作"),
    ("我最喜欢的颜色是绿色", "我最喜欢的颜色是蓝色"),
    ("我的邮箱改成了b@example.org", "我的邮箱是a@example.org"),
]
BOTH_TRUE = [
    ("I like coffee", "I like tea"),
    ("I have a dog", "I have a cat"),
    ("Anna lives in Rome", "I live in Oslo"),
    ("My sister lives in Rome", "I live in Oslo"),
    ("I live in Hangzhou with my dog", "I live in Hangzhou"),
    ("I live in Hangzhou", "I live in Hangzhou with my dog"),
    ("I live in hangzhou!", "I live in Hangzhou"),
    ("I don't live in Rome", "I live in Rome"),
    ("I used to live in Rome", "I live in Oslo"),
    ("I never moved to Rome", "I live in Oslo"),
    ("I would like to live in Rome", "I live in Oslo"),
    ("My favorite food is rice", "My favorite color is blue"),
    ("我喜欢咖啡", "我喜欢茶"),
    ("我的狗叫旺财", "我叫小明"),
    ("小王住在北京", "我住在上海"),
    ("I live in " + "x" * 1000, "I live in Oslo"),
    ("", "I live in Oslo"),
]


@pytest.mark.parametrize(("new", "old"), REPLACED)
def test_what_one_has_one_of_at_a_time_is_replaced(new: str, old: str) -> None:
    fact = Fact(id="1", text=old)
    assert replaced_by(new, [fact]) == [fact]


@pytest.mark.parametrize(("new", "old"), BOTH_TRUE)
def test_what_may_be_true_side_by_side_is_not(new: str, old: str) -> None:
    assert replaced_by(new, [Fact(id="1", text=old)]) == []


def test_what_is_replaced_already_is_left_alone() -> None:
    assert replaced_by("I live in Rome", [Fact(id="1", text="I live in Oslo", superseded_by="2")]) == []
