"""What columns of tables and fields of JSON lines mean, where they are not called as the public schema calls them.

    title=Name, text=History+Plan, date=Datum, id=note.number

stands for: the column `Name` is the title, the date of the metadata is `Datum`. Of several columns for the text each
is a section, headed by its column's name. A dot leads into an object of JSON. What is not named is left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from auscult.errors import ConfigError, DataError

SCHEMA = ("id", "title", "text", "url", "source", "split", "entity_ids")
"""What the public schema gives a meaning of its own (docs/jsonl-format.md); other names are fields of the metadata."""
_EXAMPLE = "title=Name,text=Body,date=Datum"


class ColumnMissingError(DataError):
    """A table or record lacks what the mapping names."""


@dataclass(frozen=True, slots=True)
class Columns:
    """A mapping; an empty one leaves names as they are.

    Attributes:
        told: For each field of a document the columns that it is read from.
    """

    told: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @classmethod
    def parse(cls, given: str) -> Columns:
        """A mapping as it is typed.

        Raises:
            ConfigError: It is none, names a field twice, or says not what the text is.
        """
        told: dict[str, tuple[str, ...]] = {}
        for part in filter(str.strip, given.split(",")):
            name, found, columns = part.partition("=")
            sources = tuple(filter(None, map(str.strip, columns.split("+"))))
            if not (found and name.strip() and sources):
                raise ConfigError(f"a mapping such as {_EXAMPLE}", repr(part.strip()), "write FIELD=COLUMN")
            if name.strip() in told:
                raise ConfigError("every field once in a mapping", f"'{name.strip()}' twice", "join columns by '+'")
            told[name.strip()] = sources
        if told and "text" not in told:
            raise ConfigError(f"a mapping such as {_EXAMPLE}", "one without a text", "say which column holds it: text=")
        return cls(tuple(told.items()))

    def __bool__(self) -> bool:
        return bool(self.told)

    def __str__(self) -> str:
        """As it is typed again."""
        return ",".join(f"{name}={'+'.join(columns)}" for name, columns in self.told)

    def fits(self, fields: Mapping[str, Any]) -> bool:
        """Whether a row or object is to be mapped: not one that has no such text, and is in the public schema."""
        if not self.told:
            return False
        named = any(_value(fields, column) is not None for column in dict(self.told)["text"])
        return named or not {"text", "sections"} & {name.strip().lower() for name in fields}

    def record(self, fields: Mapping[str, Any], number: int) -> dict[str, Any]:
        """A row or object, mapped, in the public schema.

        Args:
            fields: By their names.
            number: Of the row or line, an id where none is mapped.

        Raises:
            ColumnMissingError: A column of the text or the id is not there.
        """
        record: dict[str, Any] = {"id": str(number)}
        metadata: dict[str, str] = {}
        for name, columns in self.told:
            values = {column: value for column in columns if (value := _value(fields, column)) is not None}
            if not values and name in ("id", "text"):
                held = ", ".join(map(repr, fields)) or "none"
                raise ColumnMissingError(f"a column {' or '.join(columns)}", f"only {held}", "correct the mapping")
            text = " ".join(filter(None, map(str.strip, map(_text, values.values()))))
            if name == "entity_ids":
                record[name] = text.replace(",", " ").split()
            elif name == "text" and len(columns) > 1:
                record["sections"] = [{"heading": column, "text": _text(value)} for column, value in values.items()]
            elif name == "text":
                record[name] = _text(next(iter(values.values())))
            elif name in SCHEMA and text:
                record[name] = text
            elif text:
                metadata[name] = text
        return {**record, "metadata": metadata}


def _value(fields: Mapping[str, Any], column: str) -> Any:
    """What stands under a name: exactly, in other letters (upper or lower), or along a path of dots."""
    if column in fields:
        return fields[column]
    folded = column.casefold()
    for name, value in fields.items():
        if name.strip().casefold() == folded:
            return value
    head, dot, rest = column.partition(".")
    inner = fields.get(head) if dot else None
    return _value(inner, rest) if isinstance(inner, dict) else None


def _text(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return ", ".join(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


__all__ = ["SCHEMA", "ColumnMissingError", "Columns"]
