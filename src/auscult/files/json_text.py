"""Parse JSON from outside, and reject deeply nested text as malformed.

Python's parser raises RecursionError for such text, which callers do not expect, and code that walks through the value
may raise it later.
"""

from __future__ import annotations

import json
from typing import Any, Final

#: Maximum number of nested arrays and objects. JSON written by this package has at most ten.
MOST_LEVELS: Final = 100


def parse_json(text: str | bytes, **hooks: Any) -> Any:
    """Parse JSON of at most 100 levels.

    Args:
        text: The text; bytes are UTF-8, UTF-16 or UTF-32.
        hooks: Hooks for `json.loads`.

    Raises:
        json.JSONDecodeError: The text is malformed, or nested more deeply.
        UnicodeDecodeError: The bytes are in none of these encodings.
    """
    try:
        value = json.loads(text, **hooks)
    except RecursionError as error:
        raise _too_deep() from error
    if nested_more_than(MOST_LEVELS, value):
        raise _too_deep()
    return value


def nested_more_than(levels: int, value: Any) -> bool:
    """Return whether lists and dicts are nested in more levels.

    An object that occurs several times on a level is examined once, as YAML's aliases could double it on every level.
    """
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(levels):
        if not level:
            return False
        inner: dict[int, Any] = {}
        for container in level:
            members = container.values() if isinstance(container, dict) else container
            for member in members:
                if isinstance(member, dict | list):
                    inner[id(member)] = member
        level = list(inner.values())
    return bool(level)


def _too_deep() -> json.JSONDecodeError:
    return json.JSONDecodeError(f"nested more than {MOST_LEVELS} levels deep", "", 0)
