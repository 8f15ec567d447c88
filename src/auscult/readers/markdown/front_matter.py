"""Parse the fields at the top of a Markdown file, between two lines of "---": single values and lists of them.

This is a small part of YAML. Anchors, tags and nesting, which a YAML library would also parse, are of no use in fields,
and files can be made to do harm with them.
"""

from __future__ import annotations

import re
from typing import Final

from auscult.readers.dates import iso_date

_FENCE: Final = re.compile(r"---[ \t]*\r?\n")
_END: Final = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
_FIELD: Final = re.compile(r"([A-Za-z][\w .-]{0,60}?)[ \t]*:(?:[ \t]+(.*))?$")
_ITEM: Final = re.compile(r"[ \t]*-[ \t]+(.*)$")
_NAMES: Final = {
    "lang": "language",
    "authors": "author",
    "canonical_url": "url",
    "last_modified": "date",
    "updated": "date",
}
_BETWEEN: Final = {"access": ", "}
# The field with a value, on its line or below; not one that is empty.
_ACCESS: Final = re.compile(
    r"^[\"']?access[\"']?[ \t]*:[ \t]*(?!(?:\"\"|''|\[\]|~|null)?[ \t]*\r?$)\S|^access[ \t]*:[ \t]*\r?\n[ \t]+\S",
    re.MULTILINE | re.IGNORECASE,
)
_LONGEST: Final = 64_000
_LONGEST_VALUE: Final = 1000


def front_matter(source: str) -> tuple[dict[str, str], int]:
    """Return the fields, and the offset at which the text begins.

    Args:
        source: Characters of the Markdown file.

    Returns:
        The fields, and the offset; no fields and 0 if the file begins otherwise. Names are in lower case with "_" for
        blanks. Lists are joined by "; ", those of "access" by ", ". "date" is in ISO 8601.
    """
    opened = _FENCE.match(source)
    closed = _END.search(source, opened.end(), opened.end() + _LONGEST) if opened else None
    if opened is None or closed is None:
        return {}, 0
    lists: dict[str, list[str]] = {}
    name = ""
    for line in source[opened.end() : closed.start()].splitlines():
        if field := _FIELD.match(line):
            name = field[1].strip().lower().replace(" ", "_")
            name = _NAMES.get(name, name)
            lists.setdefault(name, []).extend(_read_values(field[2] or ""))
        elif name and (item := _ITEM.match(line)):
            lists[name].extend(_read_values(item[1]))
        elif line.strip():
            # Nested or folded values are left out.
            lists.pop(name, None)
            name = ""
    fields = {name: _BETWEEN.get(name, "; ").join(values)[:_LONGEST_VALUE] for name, values in lists.items() if values}
    if "access" not in fields and _ACCESS.search(source, opened.end(), closed.start()):
        # The value cannot be parsed. "," names no group, so that no group sees the document.
        fields["access"] = ","
    if "date" in fields and not (date := iso_date(fields["date"])):
        del fields["date"]
    elif "date" in fields:
        fields["date"] = date
    return fields, closed.end()


def _read_values(written: str) -> list[str]:
    """Return the value of a field, or those of a list in brackets; none for other YAML."""
    written = written.strip()
    if written.startswith("[") and written.endswith("]"):
        return [value for each in written[1:-1].split(",") if (value := _unquote(each))]
    # Folded text, mappings, anchors and tags begin with these characters.
    return [value] if (value := _unquote(written)) and not written.startswith(("|", ">", "{", "&", "*", "!")) else []


def _unquote(written: str) -> str:
    written = written.strip()
    if written.startswith(('"', "'")) and (closing := written.find(written[0], 1)) > 0:
        return written[1:closing].strip()
    return written.partition(" #")[0].strip()
