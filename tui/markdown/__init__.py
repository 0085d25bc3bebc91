"""Markdown as lines of text for a terminal, cheap to lay out anew at any width."""
