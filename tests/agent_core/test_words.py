"""The words that search and the offline model compare."""

import pytest

from agent_core.words import MAX_CHARACTERS, MAX_WORD, tokenize


@pytest.mark.parametrize(
    "forms",
    [
        "like likes liked liking",
        "live lives lived living",
        "prefer prefers preferred preferring",
        "answer answers answered answering",
        "city cities",
        "movie movies",
        "address addresses",
        "box boxes",
        "travel travels travelled travelling",
        "study studies studied studying",
        "try tries tried trying",
        "call calls called calling",
        "use uses used using",
        "house houses",
        "company companies",
        "dog dogs dog's dogs' DOG",
        "person people",
        "note notes noted noting",
    ],
)
def test_the_forms_of_an_english_word_meet(forms: str) -> None:
    assert len(set(tokenize(forms))) == 1


@pytest.mark.parametrize(
    "words",
    ["string stir", "need nee", "bus business", "new news", "king kin", "red read", "status state", "speed spe"],
)
def test_different_words_stay_apart(words: str) -> None:
    assert len(set(tokenize(words))) == 2


@pytest.mark.parametrize("text", ["", "   ", "I am what you were", "don't isn't can’t won't", "_ - * 🙂", "我的", "是"])
def test_what_means_nothing_gives_nothing(text: str) -> None:
    assert tokenize(text) == []


def test_chinese_becomes_pairs_cut_at_pronouns_and_particles() -> None:
    assert tokenize("我住在杭州") == ["住在", "在杭", "杭州"]
    assert tokenize("你的茶呢？") == ["茶"]


def test_languages_mix_without_spaces() -> None:
    assert tokenize("我用Python写代码") == ["用", "python", "写代", "代码"]


def test_numbers_and_file_names_are_kept() -> None:
    assert tokenize("room 42, feedback_answer_style.md 3.11") == [
        "room",
        "42",
        "feedback",
        "answer",
        "styl",
        "md",
        "3",
        "11",
    ]


def test_full_width_and_compatibility_forms_are_the_same_words() -> None:
    assert tokenize("ＰＹＴＨＯＮ ﬁle") == tokenize("python file")


def test_repeats_and_order_are_kept() -> None:
    assert tokenize("tea coffee tea") == ["tea", "coffe", "tea"]


def test_lone_surrogates_are_no_words() -> None:
    assert tokenize("hi \ud83d there") == ["hi"]


def test_long_words_and_long_texts_are_bounded() -> None:
    assert tokenize("ab" * 10_000) == ["ab" * (MAX_WORD // 2)]
    assert len(tokenize("\ufdfa" * MAX_CHARACTERS)) <= MAX_CHARACTERS
    assert len(tokenize("杭" * (MAX_CHARACTERS * 5))) < MAX_CHARACTERS
