"""Telling text from what is no text, by the first bytes."""

from __future__ import annotations

_LOOKED_AT = 8192
_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive (or an office document)"),
    (b"\x1f\x8b", "gzip data"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ\x00", "xz data"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"\x7fELF", "a program (ELF)"),
    (b"MZ", "a program (Windows)"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"OggS", "Ogg audio or video"),
    (b"ID3", "MP3 audio"),
    (b"\xff\xfe", "text in UTF-16"),
    (b"\xfe\xff", "text in UTF-16"),
)
_RIFF = {b"WEBP": "a WebP image", b"WAVE": "WAV audio", b"AVI ": "an AVI video"}


def binary_kind(data: bytes) -> str | None:
    """What `data`, the start of a file, is when it is no text that can be shown; None for text.

    It takes more than a signature, which a text may happen to start with: a NUL, or bytes that are not UTF-8.
    """
    head = data[:_LOOKED_AT]
    kind = _by_signature(head)
    if b"\x00" in head:
        return kind or "binary data"
    return kind if kind and not _is_utf8(head) else None


def _by_signature(head: bytes) -> str | None:
    if head[:4] == b"RIFF" and head[8:12] in _RIFF:
        return _RIFF[head[8:12]]
    if head[4:8] == b"ftyp":
        return "an MP4 video or HEIC image"
    return next((kind for signature, kind in _SIGNATURES if head.startswith(signature)), None)


def _is_utf8(head: bytes) -> bool:
    try:
        head.decode()
    except UnicodeDecodeError as error:
        # A character that is cut off where we stopped looking is not a fault.
        return len(head) == _LOOKED_AT and error.start > len(head) - 4
    return True
