"""Importing mem0: late, with its telemetry off and its folder set, and never heard on the screen."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path

from agent_core.errors import StorageError
from memory.mem0.qdrant_later import qdrant_left_for_later

TELEMETRY = "MEM0_TELEMETRY"
FOLDER = "MEM0_DIR"
_LOUD = ("mem0", "qdrant_client")
_NAGGING = "mem0.utils.spacy_models"
"""Warns at every start that spaCy is not installed, which is not needed here."""


def import_mem0(folder: Path) -> str:
    """Import it; what a person should know about how that was done, or empty when all is well.

    It reads its environment while it is imported; what is set there already is left alone. Takes seconds, once.

    Args:
        folder: for its settings file.

    Raises:
        StorageError: it is not installed, or does not work here.
    """
    is_first = "mem0" not in sys.modules
    if is_first:
        os.environ.setdefault(TELEMETRY, "False")
        os.environ.setdefault(FOLDER, str(folder))
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        with qdrant_left_for_later():
            from mem0.memory.telemetry import MEM0_TELEMETRY
    except (ImportError, OSError) as error:
        raise StorageError(
            f"mem0 is off: it cannot be imported ({error}). Install it with pip install mem0ai"
        ) from error
    for name in _LOUD:
        # Without a handler of its own, Python would print its warnings into the middle of the screen; and below a
        # warning it tells what is stored, which is nobody else's business.
        logger = logging.getLogger(name)
        logger.addHandler(logging.NullHandler())
        if logger.level == logging.NOTSET:
            logger.setLevel(logging.WARNING)
    logging.getLogger(_NAGGING).setLevel(logging.ERROR)
    if not MEM0_TELEMETRY:
        return ""
    how = f"{TELEMETRY} asks for it" if is_first else "it was imported before"
    return f"mem0 sends telemetry: {how}. Set {TELEMETRY}=False before importing it to stop that."
