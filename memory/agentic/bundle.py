"""`Bundle`: a memory folder in one file, as ZIP or as JSON, with its history or without.

The ZIP has the files under `memory/`, `manifest.json` with the times of their last changes, and of the history
`journal.jsonl` and `contents/`. Any other ZIP with Markdown files in it is read as a folder too. The JSON is one
object: `files`, each with `text` or `base64` and `modified`, and of the history `journal` and `contents`. Both name
under `from_tools` the files that came from the results of tools.
"""

from __future__ import annotations

import base64
import binascii
import io
import json
import posixpath
import stat
import time
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from agent_core.errors import StorageError
from memory.agentic.blobs import LARGEST
from memory.agentic.journal_entry import JournalEntry, digest_of, entry_line, fold_lines

FORMAT = 1
"""Of the bundles that this program writes; it refuses larger numbers."""
LARGEST_SUM = 2**30
"""Bytes of all files of a bundle together."""
_KEY = "mnemoscope_export"
_ZIP_TIMES = 315_619_200.0, 4_354_732_800.0
"""What ZIP files can say of times: from 1980 to 2107, in every time zone."""


class BundledFile(NamedTuple):
    """A file of a bundle.

    Args:
        data: its bytes.
        modified: when it was last changed, in seconds since the epoch; 0 when that is not known.
        is_from_tool: what it says came from the result of a tool.
    """

    data: bytes
    modified: float = 0.0
    is_from_tool: bool = False


class Bundle(NamedTuple):
    """A memory folder.

    Args:
        files: by their paths from the folder.
        entries: its history, oldest first.
        contents: what the history speaks of, by digest.
        left_out: files that it does not bring, with the reasons.
    """

    files: Mapping[str, BundledFile]
    entries: tuple[JournalEntry, ...] = ()
    contents: Mapping[str, bytes] = {}
    left_out: Mapping[str, str] = {}


def to_zip(bundle: Bundle) -> bytes:
    """The bundle as a ZIP file."""
    buffer = io.BytesIO()
    manifest = {
        _KEY: FORMAT,
        "files": {path: file.modified for path, file in bundle.files.items()},
        "from_tools": _from_tools(bundle),
    }
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", json.dumps(manifest, indent=1))
        for path, file in bundle.files.items():
            archive.writestr(_zip_info(f"memory/{path}", file.modified), file.data, zipfile.ZIP_DEFLATED)
        if bundle.entries:
            archive.writestr("journal.jsonl", b"".join(map(entry_line, bundle.entries)))
            for digest, content in bundle.contents.items():
                archive.writestr(f"contents/{digest}", content)
    return buffer.getvalue()


def to_json(bundle: Bundle) -> bytes:
    """The bundle as one JSON object."""
    value: dict[str, Any] = {_KEY: FORMAT, "files": {}, "from_tools": _from_tools(bundle)}
    for path, file in bundle.files.items():
        value["files"][path] = {"modified": file.modified, **_as_json(file.data)}
    if bundle.entries:
        value["journal"] = msgspec.to_builtins(bundle.entries)
        value["contents"] = {digest: _as_json(content) for digest, content in bundle.contents.items()}
    return json.dumps(value, indent=1).encode()


def _from_tools(bundle: Bundle) -> list[str]:
    return [path for path, file in bundle.files.items() if file.is_from_tool]


def read_bundle(data: bytes) -> Bundle:
    """The bundle in a file, of either form.

    Raises:
        StorageError: it is none, or damaged, or larger than can be taken in.
    """
    try:
        return _from_zip(data) if data.startswith(b"PK") else _from_json(data)
    except (zipfile.BadZipFile, zlib.error, binascii.Error, EOFError, NotImplementedError, RuntimeError) as error:
        raise StorageError(f"The export is damaged: {error}.") from error
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError) as error:
        raise StorageError("This is no export of a memory folder: neither a ZIP with memories nor our JSON.") from error


def _from_zip(data: bytes) -> Bundle:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        infos = {info.filename: info for info in archive.infolist() if not info.is_dir()}
        by_name = {name: info for name, info in infos.items() if not _unfit(info)}
        left_out = {name: _unfit(info) for name, info in infos.items() if name not in by_name}
        if sum(info.file_size for info in by_name.values()) > LARGEST_SUM:
            raise StorageError(f"The export holds more than {LARGEST_SUM >> 30} GiB: import it in parts.")
        if "manifest.json" not in by_name:
            return Bundle(dict(_from_any_zip(archive, by_name)), left_out=left_out)
        manifest = _checked(json.loads(archive.read("manifest.json")))
        times, from_tools = manifest["files"], set(manifest.get("from_tools", ()))
        files = {
            path: BundledFile(archive.read(name), float(times.get(path, 0)), path in from_tools)
            for name in by_name
            if (path := name.removeprefix("memory/")) != name
        }
        journal = archive.read("journal.jsonl") if "journal.jsonl" in by_name else b""
        contents = {
            digest: archive.read(name) for name in by_name if (digest := name.removeprefix("contents/")) != name
        }
        return _bundle(files, fold_lines(journal.splitlines()).entries, contents)._replace(left_out=left_out)


def _unfit(info: zipfile.ZipInfo) -> str:
    """Why a file of an archive is not taken in; empty when it is."""
    if stat.S_ISLNK(info.external_attr >> 16):
        return "it is a link"
    return f"it is larger than {LARGEST // 2**20} MiB" if info.file_size > LARGEST else ""


def _from_any_zip(
    archive: zipfile.ZipFile, by_name: Mapping[str, zipfile.ZipInfo]
) -> Iterator[tuple[str, BundledFile]]:
    """The files of a folder that somebody has zipped, with or without the folder itself around them."""
    names = [name for name in by_name if not _is_litter(name)]
    if not any(name[-3:].lower() == ".md" for name in names):
        raise ValueError("no memories in it")
    # Names that lead elsewhere stay as they are, so that they are refused by them.
    inside = {name for name in names if not name.startswith("/") and ".." not in name.split("/")}
    top = posixpath.commonpath([posixpath.dirname(name) for name in inside]) if inside else ""
    for name in names:
        modified = time.mktime((*by_name[name].date_time, 0, 0, -1))
        path = posixpath.relpath(name, top) if top and name in inside else name
        yield path, BundledFile(archive.read(name), modified)


def _is_litter(name: str) -> bool:
    """Whether it is what systems and programs leave in folders."""
    return any(part.startswith((".", "__MACOSX")) and part.strip(".") for part in name.split("/"))


def _from_json(data: bytes) -> Bundle:
    value = _checked(json.loads(data))
    from_tools = set(value.get("from_tools", ()))
    files = {
        path: BundledFile(_from_json_file(file), float(file.get("modified", 0)), path in from_tools)
        for path, file in value["files"].items()
    }
    lines = (json.dumps(entry).encode() for entry in value.get("journal", ()))
    contents = {digest: _from_json_file(file) for digest, file in value.get("contents", {}).items()}
    return _bundle(files, fold_lines(lines).entries, contents)


def _bundle(
    files: Mapping[str, BundledFile], entries: tuple[JournalEntry, ...], contents: Mapping[str, bytes]
) -> Bundle:
    settled = tuple(entry for entry in entries if not entry.is_pending and not entry.is_void)
    return Bundle(files, settled, {key: data for key, data in contents.items() if digest_of(data) == key})


def _checked(value: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(value[_KEY], int) or not isinstance(value["files"], dict):
        raise ValueError("not ours")
    if value[_KEY] > FORMAT:
        raise StorageError("The export was made by a newer program: update this one to import it.")
    return value


def _as_json(data: bytes) -> dict[str, str]:
    try:
        return {"text": data.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def _from_json_file(file: Mapping[str, Any]) -> bytes:
    if "text" in file:
        return str(file["text"]).encode("utf-8", "replace")
    return base64.b64decode(file["base64"], validate=True)


def _zip_info(name: str, modified: float) -> zipfile.ZipInfo:
    moment = time.localtime(min(max(modified, _ZIP_TIMES[0]), _ZIP_TIMES[1]))
    return zipfile.ZipInfo(name, moment[:6])
