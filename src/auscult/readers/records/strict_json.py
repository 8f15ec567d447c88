"""JSON from anywhere: what a lenient parser lets pass in silence (a key twice, NaN, nesting without end) is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, NoReturn

from auscult.files.json_text import nested_more_than
from auscult.readers.contract import UnreadableError

_DEEPEST: Final = 200
_REMEDY: Final = "export the file again"


def strict_json(text: str) -> Any:
    """The value that a text is.

    Args:
        text: JSON.

    Raises:
        UnreadableError: It is no JSON, an object has a key twice, or it is nested more than 200 deep.
    """
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_constant)
    except json.JSONDecodeError as error:
        raise _broken(f"{error.msg} in line {error.lineno}") from error
    except RecursionError as error:
        raise _too_deep() from error
    except ValueError as error:
        # A number of thousands of digits.
        raise _broken("a number that is too long") from error
    if nested_more_than(_DEEPEST, value):
        raise _too_deep()
    return value


def _object(pairs: list[tuple[str, Any]]) -> Mapping[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        # Which one is not told: what a broken file has for a key may be a patient's.
        raise UnreadableError("key twice", "JSON whose keys stand once", "a key twice in one object", _REMEDY)
    return found


def _constant(name: str) -> NoReturn:
    raise _broken(f"{name}, which JSON does not have")


def _broken(got: str) -> UnreadableError:
    return UnreadableError("broken JSON", "JSON", got, _REMEDY)


def _too_deep() -> UnreadableError:
    return UnreadableError("deep nesting", f"JSON nested at most {_DEEPEST} deep", "deeper nesting", "leave it out")


__all__ = ["strict_json"]
