"""Long-term memory as Markdown files, with an index in the system prompt and recall in the background."""

from memory.agentic.folder import MemoryFolder, Scan
from memory.agentic.frontmatter import Header, parse_header
from memory.agentic.index import IndexEntry, fit_index, parse_index
from memory.agentic.links import Link, follow_links, without_link
from memory.agentic.memory_file import MemoryFile
from memory.agentic.middleware import AgenticMemoryMiddleware
from memory.agentic.parameters import Parameters

__all__ = [
    "AgenticMemoryMiddleware",
    "Header",
    "IndexEntry",
    "Link",
    "MemoryFile",
    "MemoryFolder",
    "Parameters",
    "Scan",
    "fit_index",
    "follow_links",
    "parse_header",
    "parse_index",
    "without_link",
]
