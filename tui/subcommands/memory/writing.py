"""`memory new` and `edit`: a memory in an editor, or with the text of a file."""

from __future__ import annotations

import re
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from agent_core.errors import StorageError
from agent_core.paths import one_line
from agent_core.tool.local_files import read_file, resolve
from memory.agentic.blobs import LARGEST
from memory.agentic.compose import compose
from memory.agentic.frontmatter import parse_header
from memory.agentic.memory_file import BINARY, NOT_UTF8, TOO_LARGE
from memory.agentic.names import name_for
from memory.agentic.writer import Written
from tui.draft import Draft
from tui.external_editor import edit_in_shell
from tui.subcommands.memory.asking import confirms, is_attended
from tui.subcommands.memory.call import Call
from tui.subcommands.memory.changing import tell

_REASONS = "\n**Why:** \n**How to apply:** "
_ADVICE = """
<!-- The fact or the rule goes above; for feedback and project, **Why:** and **How to apply:** below it.
The description is one specific line: it alone decides whether the memory is looked at later.
Types: user, feedback, project, reference. This remark is not saved. -->
"""
_REMARK = re.compile(r"\n?<!-- The fact or the rule goes above;.*?-->\n?", re.DOTALL)

Save = Callable[[str], Awaitable[Written]]


async def new(call: Call) -> int:
    """Make a memory.

    Raises:
        StorageError: it was not made.
    """
    title, path = _title_and_path(call.given["name"])
    await _require_free(call, path)

    async def save(text: str) -> Written:
        fields = parse_header(text).fields
        taken = [card.file.relative for card in await call.book.memories()]
        return await call.book.create(text, path or name_for(fields.get("name", "").strip() or title, taken))

    if call.given["source"] is not None:
        text = _composed(call.given, title, _given_text(call.given["source"]))
        written = await _checked(call, path, text, save)
    else:
        template = _template(call.given, title)
        draft = Draft(path or name_for(title, ()), template.encode("utf-8", "replace"))
        before = _REMARK.sub("", template)
        text = _REMARK.sub("", await edit_in_shell(draft))
        if text.strip() in ("", before.strip()):
            draft.discard()
            raise StorageError("Nothing was written, so no memory was made.")
        written = await _saved(call, draft, path, text, save)
    tell(call, written, f"Made {written.path}.", "")
    if not parse_header(text).fields.get("description", "").strip():
        call.out.warn(
            f"{written.path} has no description, by which it would be found: `mnemoscope memory edit` adds it."
        )
    return 0


async def edit(call: Call) -> int:
    """Change a memory, or the index.

    Raises:
        StorageError: it was not changed.
    """
    shown = await call.book.show(call.given["name"])
    if BINARY in shown.badges or TOO_LARGE in shown.badges:
        raise StorageError(f"{one_line(shown.path)} is {', '.join(shown.badges)}: it cannot be edited here.")
    if NOT_UTF8 in shown.badges:
        call.out.warn(
            f"{shown.path} is not UTF-8: leave the lines with “\ufffd” as they are, or the change is refused."
        )

    async def save(text: str) -> Written:
        return await call.book.edit(shown.path, text, seen=shown.data)

    if call.given["source"] is not None:
        written = await _checked(call, shown.path, _given_text(call.given["source"]), save)
    else:
        draft = Draft(shown.path, shown.text.encode("utf-8", "replace"))
        written = await _saved(call, draft, shown.path, await edit_in_shell(draft), save)
    tell(call, written, f"Changed {written.path}.", f"{written.path} is as it was.")
    return 0


async def _saved(call: Call, draft: Draft, path: str | None, text: str, save: Save) -> Written:
    """Save what was written in an editor, which is kept when that cannot be done."""
    try:
        written = await _checked(call, path, text, save)
    except StorageError as error:
        error.args = (f"{error} {draft.kept}", *error.args[1:])
        raise
    draft.discard()
    return written


async def _checked(call: Call, path: str | None, text: str, save: Save) -> Written:
    """Save a text, unless somebody has second thoughts about it."""
    concerns = await call.book.concerns(path, text) if not call.given["yes"] else []
    if concerns:
        what = f"{path or 'The new memory'}: {'; '.join(concerns)}."
        if not is_attended():
            raise StorageError(f"{what} Nothing was saved; with --yes it is.")
        if not confirms(f"{what} Save it?"):
            raise StorageError("Nothing was saved.")
    return await save(text)


async def _require_free(call: Call, path: str | None) -> None:
    """Say before anything is written that there is such a memory."""
    if path is None:
        return
    located = await call.book.folder.locate(path)
    if located is not None and await call.book.folder.backend.stat(located) is not None:
        raise StorageError(f"{one_line(path)} exists already: `mnemoscope memory edit` changes it.")


def _title_and_path(name: str) -> tuple[str, str | None]:
    """What a new memory is called, and where it goes where that was said."""
    if "/" not in name and name[-3:].lower() != ".md":
        return name, None
    path = name if name[-3:].lower() == ".md" else f"{name}.md"
    return re.sub(r"[_\s]+", " ", path.rsplit("/", 1)[-1][:-3]).strip(), path


def _template(given: dict[str, Any], title: str) -> str:
    """What a new memory looks like in the editor."""
    body = _REASONS if given["type"] in ("feedback", "project") else "\n"
    text = _compose(title, given["description"], given["type"], "x")
    if not given["description"]:
        text = text.replace("\ntype:", "\ndescription: \ntype:", 1)
    return text.removesuffix("x\n") + body + "\n" + _ADVICE


def _composed(given: dict[str, Any], title: str, text: str) -> str:
    """A text from a file as a memory; where it has a header it is one."""
    return text if parse_header(text).fields else _compose(title, given["description"], given["type"], text)


def _compose(title: str, description: str, type_: str, body: str) -> str:
    try:
        return compose(title, description, type_, body)
    except ValueError as error:
        raise StorageError(f"The header cannot be made: {error}.") from error


def _given_text(source: str) -> str:
    """The text of a file, or of standard input."""
    try:
        data = sys.stdin.buffer.read(LARGEST + 1) if source == "-" else read_file(resolve(source), LARGEST + 1, True)
        if len(data) > LARGEST:
            raise StorageError(f"{one_line(source)} is larger than {LARGEST // 2**20} MiB: too large for a memory.")
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise StorageError(f"{one_line(source)} is not UTF-8 text: nothing was saved.") from error
    except OSError as error:
        raise StorageError(f"{one_line(source)} cannot be read: {error.strerror or error}.") from error
