"""The one way in which a file of the data folder is written anew: as a whole, or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from agent_core.tool.local_files import replace_file, resolve


def rewrite(path: Path, data: bytes) -> None:
    """Replace what is in a file. It counts as last used when it was before, for sessions are listed by that.

    Raises:
        OSError: it could not be replaced, and is as it was.
    """
    found = path.stat()
    replace_file(resolve(str(path)), data)
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
