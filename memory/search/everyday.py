"""Is a passage near to a question in meaning, or does it only seem so? Models give any two sentences a high cosine.

The yardstick is talk that has to do with nothing that anybody would keep. A question that is nearer to it than to a
passage has nothing to do with the passage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memory.search.vectors import Matrix, Vector

SENTENCES = (
    "Hello, how are you?",
    "Please explain this topic.",
    "Write a short text.",
    "What is the capital of France?",
    "Thank you very much.",
    "Can you help me with code?",
    "你好吗?",
    "请解释一下。",
    "帮我写一段文字。",
    "谢谢你。",
    "法国的首都是哪里?",
    "能帮我看看代码吗?",
)
NEAREST = 4
"""Only so many of them, the nearest to the question, are compared: those of its language and kind."""


def closeness(talk: Matrix, question: Vector) -> float:
    """The cosine that a passage must exceed to have to do with the question.

    Args:
        talk: the vectors of `SENTENCES`, of length 1.
        question: the vector of the question, of length 1.
    """
    import numpy as np

    return float(np.sort(talk @ np.asarray(question, dtype=np.float32))[-NEAREST:].mean())
