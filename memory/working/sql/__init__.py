"""Working memory in SQLite or PostgreSQL."""
