"""The text of a new memory, in the form that the model is taught too."""

from __future__ import annotations

from memory.agentic.header_edit import set_fields


def compose(name: str, description: str, type: str, body: str) -> str:
    """A memory with its header; fields that are empty are left out.

    Raises:
        ValueError: it cannot be written so that it reads as given, since it is too long.
    """
    fields = {"name": name.strip(), "description": description.strip(), "type": type.strip()}
    given = {key: value for key, value in fields.items() if value}
    text = f"\n{body.strip()}\n" if given else f"{body.strip()}\n"
    return set_fields(text.encode("utf-8", "replace"), given, make_header=True).decode()
