import pytest

from agent_core.message import (
    AssistantMsg,
    DataBlock,
    HintBlock,
    SystemMsg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
    UserMsg,
)
from tui.views.message_text import block_title, preview, whole_text

CALL = ToolCallBlock("c", "Read", '{"file_path": "/a"}')


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("\n  hello \nthere", "hello"),
        ("", ""),
        ([], ""),
        ([ThinkingBlock("hm"), TextBlock("well")], "well"),
        ([ThinkingBlock("hm")], "hm"),
        ([TextBlock(""), CALL], 'Read {"file_path": "/a"}'),
        ([HintBlock("Memory saved\nx")], "Memory saved"),
        ([ToolResultBlock("c", "Read", "1\tx")], "1\tx"),
        ([ToolResultBlock("c", "Read", (TextBlock("a"), DataBlock("image/png", "AAAA")))], "a"),
        ([DataBlock("image/png", "AAAA", name="cat.png")], "cat.png image/png 3 bytes"),
        ([DataBlock("image/png", url="http://x/y")], "image/png http://x/y"),
    ],
)
def test_the_preview_is_the_first_line_that_says_something(content, line):
    assert preview(AssistantMsg("helper", content)) == line


def test_everything_is_searched_reasoning_and_results_too():
    msg = AssistantMsg("helper", [ThinkingBlock("deep"), TextBlock("answer"), CALL])
    assert whole_text(msg) == 'deep\nanswer\nRead {"file_path": "/a"}'
    assert whole_text(SystemMsg("Read", [ToolResultBlock("c", "Read", "found")])) == "found"
    assert whole_text(UserMsg("user", "hi")) == "hi"


def test_blocks_have_titles_for_people():
    blocks = [CALL, ToolResultBlock("c", "Read", "", "error"), HintBlock("x", "memory:a.md"), HintBlock("x")]
    titles = ["call of Read", "result of Read, error", "hint from memory:a.md", "hint"]
    assert list(map(block_title, blocks)) == titles
    assert block_title(DataBlock("image/png")) == "data, image/png"
