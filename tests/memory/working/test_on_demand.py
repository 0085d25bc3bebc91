"""What only some back ends need is imported when one is made, and named when it is missing."""

from __future__ import annotations

import subprocess
import sys

import pytest

import memory


def run(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout


def test_importing_memory_and_its_classes_loads_no_database() -> None:
    heavy = "{'sqlalchemy', 'aiosqlite', 'asyncpg', 'redis'} & set(sys.modules)"
    program = f"""
import sys
import memory
assert not any(name.startswith(("memory.working.sql", "memory.working.redis")) for name in sys.modules)
from memory import RedisMemory, SQLAlchemyMemory
from memory.working.open import open_memory
print({heavy})
"""
    assert run(program) == "set()\n"


@pytest.mark.parametrize(
    ("missing", "make", "extra"),
    [
        ("redis", "RedisMemory()", "redis"),
        ("sqlalchemy", "SQLAlchemyMemory(None)", "sql"),
        ("aiosqlite", "SQLAlchemyMemory.from_url('sqlite://')", "sql"),
        ("asyncpg", "SQLAlchemyMemory.from_url('postgresql://h/d')", "sql"),
    ],
)
def test_a_missing_package_is_named_with_the_way_to_install_it(missing: str, make: str, extra: str) -> None:
    program = f"""
import sys
sys.modules[{missing!r}] = None
from memory import RedisMemory, SQLAlchemyMemory
try:
    {make}
except ImportError as error:
    print(error)
"""
    assert f"{missing} is needed for this: pip install 'mnemoscope[{extra}]'" in run(program)


def test_the_command_line_gets_it_as_an_error_for_people() -> None:
    program = """
import sys
sys.modules["redis"] = None
from agent_core.errors import StorageError
from memory.working.open import open_memory
try:
    open_memory("redis://h")
except StorageError as error:
    print(error)
"""
    assert "pip install 'mnemoscope[redis]'" in run(program)


def test_every_public_name_is_there() -> None:
    for name in memory.__all__:
        assert getattr(memory, name).__name__ == name
    with pytest.raises(AttributeError, match="nothing_of_this_name"):
        _ = memory.nothing_of_this_name
