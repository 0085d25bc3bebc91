"""Working memory in Redis."""
