from __future__ import annotations

import pytest

from agent_core.tool.file_kind import binary_kind


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "a PNG image"),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF", "a JPEG image"),
        (b"RIFF\x24\x00\x00\x00WEBPVP8 ", "a WebP image"),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "a PDF document"),
        (b"PK\x03\x04\x14\x00", "a ZIP archive (or an office document)"),
        (b"\x1f\x8b\x08\x00", "gzip data"),
        ("﻿hello".encode("utf-16-le"), "text in UTF-16"),
        (b"\x00\x00\x00\x18ftypmp42", "an MP4 video or HEIC image"),
        (b"some\x00thing", "binary data"),
    ],
)
def test_what_is_no_text_is_named(data: bytes, kind: str) -> None:
    assert binary_kind(data) == kind


@pytest.mark.parametrize(
    "data",
    [b"", b"plain", "中文 🙂".encode(), b"\xef\xbb\xbfwith a mark", b"caf\xe9", b"GIF89a is a format", b"MZ, my dear"],
)
def test_text_is_text_in_whatever_encoding_and_whatever_it_starts_with(data: bytes) -> None:
    assert binary_kind(data) is None


def test_a_character_cut_off_where_looking_ends_does_not_make_a_binary_file() -> None:
    assert binary_kind(b"MZ" + b"x" * 8189 + "é".encode() + b"and so on") is None
