"""Working memory: messages with marks."""
