"""JSON that somebody wrote: text that is nested without end is malformed, like any other that cannot be parsed.

Python's parser raises RecursionError there, which nobody expects of a file, and code that walks through the value
would raise it later on.
"""

from __future__ import annotations

import json
from typing import Any, Final

#: Levels of arrays and objects. What this package writes has at most ten.
MOST_LEVELS: Final = 100


def parse_json(text: str | bytes, **hooks: Any) -> Any:
    """Parse JSON of at most 100 levels.

    Args:
        text: To parse; bytes are UTF-8, UTF-16 or UTF-32.
        hooks: Of `json.loads`.

    Raises:
        json.JSONDecodeError: It is malformed, or nested more deeply.
        UnicodeDecodeError: Bytes in none of these encodings.
    """
    try:
        value = json.loads(text, **hooks)
    except RecursionError as error:
        raise _too_deep() from error
    if nested_more_than(MOST_LEVELS, value):
        raise _too_deep()
    return value


def nested_more_than(levels: int, value: Any) -> bool:
    """Whether lists and dicts stand within each other on more levels.

    One that stands in several places of a level is looked into once: YAML's aliases would double it at each.
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
