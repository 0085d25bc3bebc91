"""What the offline model says, in both languages."""

from __future__ import annotations

from agent_core.model.offline.language import Language

CONNECT = "mnemoscope --model MODEL --base-url URL"
"""Stands in every introduction, and so tells whether one was given already."""

_PHRASES: dict[str, tuple[str, str]] = {
    "comma": (", ", "、"),
    "semicolon": ("; ", "；"),
    # About itself
    "introduction": (
        "No language model is connected yet, so I can only follow fixed rules; but your memory works:\n\n"
        "- “remember that I live in Hangzhou” saves it as a file that you can read\n"
        "- “where do I live?” finds it again, also in a later session\n\n"
        "To talk with a real model, connect one:\n\n"
        "- any OpenAI-compatible server: `" + CONNECT + "`, for example `--model qwen3:8b --base-url "
        "http://localhost:11434/v1`\n"
        "- OpenAI: set `OPENAI_API_KEY` (and `OPENAI_BASE_URL` for another address), then `mnemoscope --model MODEL`",
        "现在还没有连接语言模型，我只能按固定规则工作；但记忆功能可以正常使用：\n\n"
        "- “请记住：我住在杭州” 会把它保存成一个你能查看的文件\n"
        "- “我住在哪里？” 会把它找回来，下次启动以后也可以\n\n"
        "想和真正的模型对话，请连接一个：\n\n"
        "- 任何兼容 OpenAI 的服务：`" + CONNECT + "`，例如 `--model qwen3:8b --base-url "
        "http://localhost:11434/v1`\n"
        "- OpenAI：设置 `OPENAI_API_KEY`（其他地址再设置 `OPENAI_BASE_URL`），然后运行 `mnemoscope --model MODEL`",
    ),
    "introduction_again": (
        "Without a language model I can only save and find again: `mnemoscope --model … --base-url …` connects one.",
        "没有语言模型，我只能保存和查找：用 `mnemoscope --model … --base-url …` 连接一个。",
    ),
    "offer": (
        "I keep only what you ask me to keep: say “remember that”, and I save this.",
        "你要求记住的我才会保存：说“请记住”，我就把这句话存下来。",
    ),
    # Saving
    "saving": ("I save that.", "好的，我来保存。"),
    "saved": ("Saved:", "已记住："),
    "saved_where": (
        "It is in {files} in {folder}, listed in MEMORY.md.",
        "已写入 {folder} 中的 {files}，并列入 MEMORY.md。",
    ),
    "saved_unlisted": (
        "It is in {files} in {folder}, but MEMORY.md does not list it yet: {reason}",
        "已写入 {folder} 中的 {files}，但还没有列入 MEMORY.md：{reason}",
    ),
    "asked_to_keep": ("The user asked me to remember this.", "用户要求记住这些。"),
    "kept": ("Saved in long-term memory:", "已存入长期记忆："),
    "kept_before": ("Long-term memory has that already:", "长期记忆里已经有了："),
    "kept_instead": ("That replaces:", "它取代了："),
    "known": ("I know that already, from {files}:", "这个我已经知道了，见 {files}："),
    "not_saved": ("I did not save this:", "这些没有保存："),
    # Another memory may take it in all the same, of which this model is told nothing.
    "not_written": ("I did not write this into a memory file:", "这些没有写入记忆文件："),
    "because": ("Reason: {reason}", "原因：{reason}"),
    "refused": ("{tool} was not allowed ({reason})", "{tool} 没有得到许可（{reason}）"),
    "cannot_edit": ("{file} has lines that are too long to edit", "{file} 中有太长的行，无法编辑"),
    "what": (
        "What shall I remember? For example: “remember that I live in Hangzhou”.",
        "要我记住什么呢？例如：“请记住：我住在杭州”。",
    ),
    "no_folder": (
        "I cannot save that: this agent has no memory folder, or may not write files.",
        "无法保存：这个智能体没有记忆文件夹，或者不能写文件。",
    ),
    "keep_out": (
        "Nothing was saved and nothing was deleted. Memories are plain files in {folder}: you can change them there.",
        "没有保存任何内容，也没有删除任何内容。记忆是 {folder} 中的普通文件：可以在那里修改或删除。",
    ),
    "the_folder": ("the memory folder", "记忆文件夹"),
    # Topic files
    "user_profile": ("User profile", "用户资料"),
    "answer_style": ("Answer style", "回答风格"),
    "ways_of_working": ("Ways of working", "工作方式"),
    "description": ("The user said: {said}", "用户说：{said}"),
    "no_reason": ("The user asked for it on {date} and gave no reason.", "用户在 {date} 提出，没有说明原因。"),
    "apply_feedback": ("In every answer, unless the user asks otherwise.", "适用于每次回答，除非用户另有要求。"),
    "apply_project": ("Take it into account whenever this comes up.", "谈到相关内容时要考虑到这一点。"),
    # Answering
    "looking": ("I look into memory.", "我查一下记忆。"),
    "from_memory": ("From memory:", "记忆中是这样写的："),
    "from_talk": ("Earlier in this conversation you said:", "你在这次对话中说过："),
    "nearest": (
        "Nothing in memory has the words of your question. What I know that may belong to it:",
        "记忆中没有与问题用词相同的内容。可能相关的有：",
    ),
    "quote": ("- “{text}”{origin}", "- “{text}”{origin}"),
    "origin": (" ({origin})", "（{origin}）"),
    "origin_saved": (" ({source}, saved {date})", "（{source}，保存于 {date}）"),
    "nothing": (
        "I find nothing about that, neither in this conversation nor in memory.",
        "我没有找到相关内容，这次对话和记忆里都没有。",
    ),
    "looked_in": ("I looked into {files}.", "查看过的文件：{files}。"),
    "could_not_read": ("I could not open {files}: {reason}", "无法打开 {files}：{reason}"),
    "could_not_search": ("Long-term memory could not be searched: {reason}", "无法查询长期记忆：{reason}"),
    "rules_only": (
        "I only match words. Tell me with “remember that …”, or connect a language model: `" + CONNECT + "`",
        "我只会匹配词语。可以用“请记住：……”告诉我，或者连接语言模型：`" + CONNECT + "`",
    ),
    # Summaries
    "no_task": ("The user has not said yet what they want.", "用户还没有说明要做什么。"),
    "no_next_steps": (
        "Not known: this summary only quotes; it was made without a language model.",
        "未知：这份摘要只是摘录原话，没有使用语言模型。",
    ),
}


def say(name: str, language: Language, **values: str) -> str:
    """The phrase of that name with `values` put in."""
    return _PHRASES[name][0 if language == "en" else 1].format(**values)
