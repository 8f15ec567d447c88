"""The fields on top of a Markdown file, between two lines of "---": single values and lists of them.

Reads the part of YAML that such fields are written in. A YAML library would bring anchors, tags and nesting, for which
no field of a document has a use, and which files from anywhere have been made to harm with.
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
    """The fields, and where the text begins.

    Args:
        source: A Markdown file's characters.

    Returns:
        Names in lower case with "_" for blanks, values as strings, lists joined by "; " (those of "access" by ", "),
        "date" as ISO 8601; nothing and 0 where the file begins otherwise.
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
            lists.setdefault(name, []).extend(_values(field[2] or ""))
        elif name and (item := _ITEM.match(line)):
            lists[name].extend(_values(item[1]))
        elif line.strip():
            # Nested or folded: not a field of ours.
            lists.pop(name, None)
            name = ""
    fields = {name: _BETWEEN.get(name, "; ").join(values)[:_LONGEST_VALUE] for name, values in lists.items() if values}
    if "access" not in fields and _ACCESS.search(source, opened.end(), closed.start()):
        # What it says cannot be read: a comma without a name is seen by no group.
        fields["access"] = ","
    if "date" in fields and not (date := iso_date(fields["date"])):
        del fields["date"]
    elif "date" in fields:
        fields["date"] = date
    return fields, closed.end()


def _values(written: str) -> list[str]:
    """One value, or those of a list in brackets."""
    written = written.strip()
    if written.startswith("[") and written.endswith("]"):
        return [value for each in written[1:-1].split(",") if (value := _plain(each))]
    # Folded text and mappings begin so.
    return [value] if (value := _plain(written)) and not written.startswith(("|", ">", "{", "&", "*", "!")) else []


def _plain(written: str) -> str:
    written = written.strip()
    if written.startswith(('"', "'")) and (closing := written.find(written[0], 1)) > 0:
        return written[1:closing].strip()
    return written.partition(" #")[0].strip()
