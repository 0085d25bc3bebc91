"""The one table of commands. Key bindings, footer, palette, slash commands and the help screen all read it.

A command of scope `APP` is carried out by the function that `tui.handlers` registers under its id, whether it comes
from a key, from the palette or as a slash command. A command of another scope is a key of one widget: the widget takes
its bindings with `bindings(scope)` and carries them out in `action_<id>`.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from msgspec import Struct
from textual.binding import Binding, BindingType

APP = "app"
PROMPT = "prompt"
APPROVAL = "approval"
TRANSCRIPT = "transcript"
LIST = "list"
ASK = "ask"
MARKS = "marks"
CONTENT = "content"
FILTER = "filter"
INDEX = "index"
HINTS = "hints"
FACTS = "facts"
READING = "reading"
SUMMARY = "summary"
LEAVING = "leaving"
EDITING = "editing"
HISTORY = "history"
FINDINGS = "findings"


class Command(Struct, frozen=True):
    """One thing that a person can have done.

    Args:
        id: the name of its handler or action.
        help: what it does, in one line.
        group: the heading it stands under in the help.
        keys: as Textual writes them, separated by commas; empty when it has none.
        slash: what it is called after a `/`; empty when it is not a slash command.
        usage: what may follow the slash name; capitals are for a person to fill in, what is in brackets may be absent.
        label: a word or two for the footer; empty when it is not shown there.
        scope: where its keys work.
        choices: what may be filled in, where that is a fixed set.
    """

    id: str
    help: str
    group: str
    keys: str = ""
    slash: str = ""
    usage: str = ""
    label: str = ""
    scope: str = APP
    choices: tuple[str, ...] = ()

    @property
    def key_names(self) -> tuple[str, ...]:
        """Its keys, one by one, as Textual calls them."""
        return tuple(key.strip() for key in self.keys.split(",") if key.strip())

    @property
    def key_labels(self) -> tuple[str, ...]:
        """Its keys, one by one, for people."""
        return tuple(_KEY_LABELS.get(key, key) for key in self.key_names)


_KEY_LABELS = {"slash": "/", "exclamation_mark": "!", "up": "↑", "down": "↓", "escape": "esc"}


COMMANDS: tuple[Command, ...] = (
    Command("send", "send what is typed; while the agent works it is queued", "Chat", "enter", scope=PROMPT),
    Command("newline", "start a new line (ctrl+j works in every terminal)", "Chat", "ctrl+j,shift+enter,alt+enter",
            label="new line", scope=PROMPT),
    Command("older", "the prompt before, or take back what was queued last", "Chat", "up", scope=PROMPT),
    Command("newer", "the prompt after", "Chat", "down", scope=PROMPT),
    Command("complete", "complete a slash command", "Chat", "tab", scope=PROMPT),
    Command("interrupt", "stop the running reply; from a pane: back to the prompt", "Chat", "escape", label="stop"),
    Command("retry", "try again after a reply that failed or was stopped", "Chat", "ctrl+r", slash="retry"),
    Command("details", "open or fold all reasoning, tool calls and recalled memories", "Chat", "ctrl+o",
            slash="details", label="details"),
    Command("copy", "copy the last answer as Markdown", "Chat", slash="copy"),
    Command("stop_or_quit", "copy what is selected, else stop the reply, else (twice) quit", "Chat", "ctrl+c"),
    Command("mark", "mark what you say next; without names: show, off: stop marking", "Memory", slash="mark",
            usage="[NAME… | off]"),
    Command("filter", "send only messages marked NAME, none marked !NAME; off: send all", "Memory", slash="filter",
            usage="[NAME… !NAME… | off]"),
    Command("compare", "two filters side by side; one alone is compared with the one applied", "Memory",
            slash="compare", usage="NAME… !NAME… [| NAME… !NAME…]"),
    Command("rules", "the rules that set marks", "Memory", slash="rules"),
    Command("summary", "send the summary, or what it covers instead", "Memory", slash="summary", usage="[on|off]",
            choices=("on", "off")),
    Command("undo", "take back what you changed last: marks, deletions, the summary", "Memory", slash="undo"),
    Command("redo", "do again what was undone", "Memory", slash="redo"),
    Command("compact", "summarise the older part of the conversation now", "Memory", slash="compact",
            usage="[WHAT TO KEEP]"),
    Command("grace", "show or change how long an answer waits for what is recalled", "Memory", slash="grace",
            usage="[SECONDS]"),
    Command("carry", "show or change whether what is recalled too late goes into the next reply", "Memory",
            slash="carry", usage="[on|off]", choices=("on", "off")),
    Command("mem0", "show or change how mem0 keeps facts about you", "Memory", slash="mem0", usage="[MODE]",
            choices=("off", "static_control", "agent_control", "both")),
    Command("user", "show or change whose facts they are", "Memory", slash="user", usage="[ID]"),
    Command("forget", "forget everything about the user, wherever it was kept", "Memory", slash="forget"),
    Command("new", "start a new session", "Session", slash="new"),
    Command("model", "show or change the model, and the endpoint", "Session", slash="model",
            usage="[NAME [BASE_URL]]"),
    Command("mode", "show or change what tools may do without asking", "Session", slash="mode", usage="[MODE]",
            choices=("default", "accept_edits", "explore", "bypass", "dont_ask")),
    Command("show_chat", "the chat", "View", "f2"),
    Command("show_content", "every message with its marks", "View", "f3"),
    Command("show_filter", "what the filter lets through", "View", "f4"),
    Command("show_index", "MEMORY.md and the memory files", "View", "f5"),
    Command("show_hints", "what was looked up for each reply", "View", "f6"),
    Command("show_facts", "what mem0 recalled and wrote, and all its memories", "View", "f7"),
    Command("theme", "show or change the colours", "View", slash="theme", usage="[NAME]"),
    Command("help", "keys and commands", "Program", "f1", slash="help", label="help"),
    Command("palette", "find a command by name", "Program", "ctrl+p", label="commands"),
    Command("quit", "leave; the session is kept", "Program", "ctrl+q", slash="quit", label="quit"),
    Command("scroll_chat(-1)", "scroll the chat back", "Chat", "pageup", scope=PROMPT),
    Command("scroll_chat(1)", "scroll the chat forward", "Chat", "pagedown", scope=PROMPT),
    Command("once", "allow this call", "When asked", "y", scope=APPROVAL),
    Command("always", "allow this and the like from now on", "When asked", "a", scope=APPROVAL),
    Command("no", "refuse this call", "When asked", "n", scope=APPROVAL),
    Command("leave", "back to the prompt without answering", "When asked", "tab", scope=APPROVAL),
    Command("scroll_change(-2)", "scroll back what the call would change", "When asked", "up", scope=APPROVAL),
    Command("scroll_change(2)", "scroll it forward", "When asked", "down", scope=APPROVAL),
    Command("scroll_chat(-1)", "scroll the chat back", "When asked", "pageup", scope=APPROVAL),
    Command("scroll_chat(1)", "scroll the chat forward", "When asked", "pagedown", scope=APPROVAL),
    Command("unfold", "open or fold a row of the chat", "Chat", "enter,space", scope=TRANSCRIPT),
    Command("up", "one row up", "Lists", "up,k", scope=LIST),
    Command("down", "one row down", "Lists", "down,j", scope=LIST),
    Command("page_back", "one screenful up", "Lists", "pageup", scope=LIST),
    Command("page_on", "one screenful down", "Lists", "pagedown", scope=LIST),
    Command("first", "the first row", "Lists", "home,g", scope=LIST),
    Command("last", "the last row", "Lists", "end,G", scope=LIST),
    Command("extend_up", "select upwards", "Lists", "shift+up", scope=LIST),
    Command("extend_down", "select downwards", "Lists", "shift+down", scope=LIST),
    Command("take_offer", "take the mark that is offered", "When a pane asks", "tab", scope=MARKS),
    Command("yes", "answer yes", "When a pane asks", "y", scope=ASK),
    Command("no", "answer no", "When a pane asks", "n,escape", scope=ASK),
    Command("choose('f')", "for good, where that is offered", "When a pane asks", "f", scope=ASK),
    Command("choose('s')", "save first, where that is offered", "When a pane asks", "s", scope=ASK),
    Command("open", "open the message whole", "Content", "enter", label="open", scope=CONTENT),
    Command("select", "select the message, or no longer", "Content", "space", label="select", scope=CONTENT),
    Command("select_all", "select all messages, or none", "Content", "a", scope=CONTENT),
    Command("mark", "set a mark on what is selected, or take it off", "Content", "m", label="mark", scope=CONTENT),
    Command("mark_again", "the same with the marks used last", "Content", "M", scope=CONTENT),
    Command("rename_mark", "rename a mark", "Content", "r", label="rename", scope=CONTENT),
    Command("remove_mark", "take a mark off", "Content", "x", scope=CONTENT),
    Command("remove_mark_everywhere", "take a mark off every message", "Content", "X", scope=CONTENT),
    Command("delete", "delete what is selected", "Content", "d,delete", label="delete", scope=CONTENT),
    Command("delete_by_mark", "delete all that has a mark", "Content", "D", scope=CONTENT),
    Command("clear", "delete everything, the summary too", "Content", "C", scope=CONTENT),
    Command("undo", "take back what you changed last", "Content", "u", label="undo", scope=CONTENT),
    Command("redo", "do again what was undone", "Content", "U", scope=CONTENT),
    Command("summary", "read the summary; from there: edit or remove it", "Content", "s", label="summary",
            scope=CONTENT),
    Command("find", "search in all that the messages say", "Content", "slash", label="search", scope=CONTENT),
    Command("find_next", "the next message that is found", "Content", "n", scope=CONTENT),
    Command("find_previous", "the one before", "Content", "N", scope=CONTENT),
    Command("filter_mark", "show only what has the message's mark, or all again", "Content", "f", label="filter",
            scope=CONTENT),
    Command("leave", "select nothing, or back to the prompt", "Content", "escape", scope=CONTENT),
    Command("want", "want the mark, or no longer", "Filter", "enter,space", label="want", scope=FILTER),
    Command("leave_out", "leave out what has the mark, or no longer", "Filter", "exclamation_mark",
            label="leave out", scope=FILTER),
    Command("apply", "have the agent send by this filter", "Filter", "a", label="apply", scope=FILTER),
    Command("look", "show only what passes, or everything; changes nothing about what is sent", "Filter", "v",
            label="view only", scope=FILTER),
    Command("clear", "filter nothing any more", "Filter", "c", label="clear", scope=FILTER),
    Command("compare", "the filter made here beside the one applied", "Filter", "d", label="compare", scope=FILTER),
    Command("switch_summary", "switch the summary on or off", "Filter", "s", label="summary", scope=FILTER),
    Command("type", "type the marks", "Filter", "e,slash", scope=FILTER),
    Command("leave", "from a line back to the marks, from there to the prompt", "Filter", "escape", scope=FILTER),
    Command("open", "open the memory file", "Index", "enter", label="open", scope=INDEX),
    Command("new", "write a new memory", "Index", "n", label="new", scope=INDEX),
    Command("edit", "edit the memory here", "Index", "e", label="edit", scope=INDEX),
    Command("edit_outside", "edit it in $VISUAL or $EDITOR", "Index", "E", scope=INDEX),
    Command("rename", "rename it; links to it are kept", "Index", "r", scope=INDEX),
    Command("delete", "delete it, or delete it for good", "Index", "d,delete", label="delete", scope=INDEX),
    Command("pin", "recall it before all others, or no more", "Index", "p", scope=INDEX),
    Command("disable", "take it out of use without deleting it, or back into use", "Index", "x", scope=INDEX),
    Command("search", "search in all memories, no model asked", "Index", "slash", label="search", scope=INDEX),
    Command("history", "what has changed it, and what it was used for", "Index", "h", label="history", scope=INDEX),
    Command("history_of_all", "what has changed any memory, deleted ones too", "Index", "H", scope=INDEX),
    Command("undo", "undo the last change of the memory; once more: redo", "Index", "u", label="undo", scope=INDEX),
    Command("undo_any", "undo the last change of any memory", "Index", "U", scope=INDEX),
    Command("lint", "what is not in order, and mend it", "Index", "l", scope=INDEX),
    Command("open_index", "open MEMORY.md as it was injected", "Index", "i", scope=INDEX),
    Command("edit_index", "edit MEMORY.md", "Index", "I", scope=INDEX),
    Command("leave", "from what was found back to all, from there to the prompt", "Index", "escape", scope=INDEX),
    Command("open", "fold or unfold the reply, open the text of a file", "Hints", "enter,space", label="open",
            scope=HINTS),
    Command("open", "open the memory or the reply whole", "Facts", "enter", label="open", scope=FACTS),
    Command("find", "search the memories; an empty search lists all", "Facts", "slash", label="search", scope=FACTS),
    Command("add", "add a memory", "Facts", "n", label="new", scope=FACTS),
    Command("edit", "change the memory's text", "Facts", "e", label="edit", scope=FACTS),
    Command("delete", "delete the memory", "Facts", "d,delete", label="delete", scope=FACTS),
    Command("history", "what has happened to the memory", "Facts", "h", label="history", scope=FACTS),
    Command("forget", "forget everything about the user, wherever it was kept", "Facts", "F", scope=FACTS),
    Command("load", "list the memories again", "Facts", "r", scope=FACTS),
    Command("leave", "from what was found to all memories, from there to the prompt", "Facts", "escape", scope=FACTS),
    Command("close", "back to what was there", "When reading", "escape,q,enter", label="close", scope=READING),
    Command("copy", "copy the whole text", "When reading", "c,y", label="copy", scope=READING),
    Command("edit", "edit it; what it covers stays covered", "Summary", "e", label="edit", scope=SUMMARY),
    Command("remove", "remove it; what it covers is sent itself again", "Summary", "d,delete", label="remove",
            scope=SUMMARY),
    Command("leave_now", "leave without waiting for what is being written", "When leaving", "escape", scope=LEAVING),
    Command("save", "save the text", "When editing", "ctrl+s", label="save", scope=EDITING),
    Command("leave", "leave; what is not saved is asked about", "When editing", "escape", label="leave",
            scope=EDITING),
    Command("open", "read the change whole", "History", "enter", label="open", scope=HISTORY),
    Command("undo", "undo the change", "History", "u", label="undo", scope=HISTORY),
    Command("close", "back to what was there", "History", "escape,q", label="close", scope=HISTORY),
    Command("mend", "mend what is under the cursor", "Lint", "m", label="mend", scope=FINDINGS),
    Command("mend_all", "mend all that can be mended", "Lint", "M", label="mend all", scope=FINDINGS),
    Command("open", "open the file", "Lint", "enter", label="open", scope=FINDINGS),
    Command("close", "back to what was there", "Lint", "escape,q", label="close", scope=FINDINGS),
)  # fmt: skip


def bindings(scope: str, commands: Iterable[Command] = COMMANDS) -> list[BindingType]:
    """The key bindings of one scope; those of `APP` work whatever has the focus."""
    return [_binding(command) for command in commands if command.keys and command.scope == scope]


def slash_commands(commands: Iterable[Command] = COMMANDS) -> dict[str, Command]:
    """The slash commands by name."""
    return {command.slash: command for command in commands if command.slash}


def nearest_slash(name: str, commands: Iterable[Command] = COMMANDS) -> list[str]:
    """Names of slash commands that are spelled much like `name`, the likeliest first."""
    return nearest(name, slash_commands(commands))


def nearest(name: str, names: Iterable[str]) -> list[str]:
    """Those of `names` that begin with `name` or are spelled much like it, at most three, the likeliest first."""
    known = list(names)
    starting = [each for each in known if name and each.startswith(name)]
    return list(dict.fromkeys([*starting, *get_close_matches(name, known, n=3, cutoff=0.5)]))[:3]


def _binding(command: Command) -> Binding:
    is_app = command.scope == APP
    # Escape first belongs to what is open in a widget: a list of completions, a selection, a question.
    priority = is_app and command.keys != "escape"
    return Binding(
        command.keys,
        f"app.command({command.id!r})" if is_app else command.id,
        command.label or command.help,
        show=bool(command.label),
        priority=priority,
        id=f"{command.scope}.{command.id}",
    )
