"""What an address asks for, and the addresses of everything near it: every chip, filter and page of hits is a link."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final
from urllib.parse import quote, urlencode

from auscult.index.fields import Between, Where
from auscult.service.errors import Refusal
from auscult.understanding import Query

PER_PAGE: Final = 10
FURTHEST: Final = 200
"""Hits that are paged through at most; whoever has not found it there asks otherwise."""
_LONGEST: Final = 2000
_ASKED: Final = frozenset({"q", "e", "a"})
_FIELD, _FROM, _TO = "f.", "from.", "to."


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One address of the search page.

    Attributes:
        text: What stands in the box.
        index: Name of the index; empty for the first.
        entity: Chosen by hand, a name or an identifier; empty to take it from the text.
        aspects: Chosen by hand.
        by_parts: Whether entity and aspects were chosen, and the text no longer counts.
        as_words: Whether the text is looked for as it stands, without being understood.
        fields: By field, the values that a document may have.
        bounds: By field, the first and the last value (dates).
        start: Number of the first hit shown, from 0.
        path: Of the page that asks.
    """

    text: str = ""
    index: str = ""
    entity: str = ""
    aspects: tuple[str, ...] = ()
    by_parts: bool = False
    as_words: bool = False
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    bounds: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    start: int = 0
    path: str = "/"

    @classmethod
    def of(cls, parameters: Sequence[tuple[str, str]]) -> Asked:
        """Read an address' parameters, which anyone may have written; unknown ones are ignored.

        Raises:
            Refusal: The question is too long to be one; none is cut.
        """
        if any(name in _ASKED and len(value) > _LONGEST for name, value in parameters):
            message = f"expected a question of at most {_LONGEST:,} characters, got a longer one"
            raise Refusal(422, "too_long", message, "ask in fewer words")
        single = {name: value[:_LONGEST] for name, value in reversed(parameters)}
        fields: dict[str, tuple[str, ...]] = {}
        for name, value in parameters:
            if name.startswith(_FIELD) and value:
                key = name.removeprefix(_FIELD)
                fields[key] = tuple(dict.fromkeys((*fields.get(key, ()), value[:_LONGEST])))
        bounded = [name.partition(".")[2] for name, value in parameters if name.startswith((_FROM, _TO)) and value]
        start = single.get("start", "")
        return cls(
            text=single.get("q", "").strip(),
            index=single.get("index", ""),
            entity=single.get("e", "").strip(),
            aspects=tuple(dict.fromkeys(value.strip() for name, value in parameters if name == "a" and value.strip()))[
                :12
            ],
            by_parts="e" in single or "a" in single,
            as_words=single.get("as") == "words",
            fields=fields,
            bounds={name: (single.get(_FROM + name, ""), single.get(_TO + name, "")) for name in bounded},
            start=min(int(start), FURTHEST) if start.isascii() and start.isdigit() else 0,
        )

    @property
    def is_empty(self) -> bool:
        """Whether nothing is asked for."""
        return not (self.text or self.entity or self.aspects)

    @property
    def query(self) -> Query:
        """Query to understand; by parts without the text, which said something else."""
        if self.by_parts and not self.as_words:
            return Query("", self.entity, self.aspects)
        return Query("", "", (), "", self.text)

    @property
    def words(self) -> dict[str, object]:
        """The question as the audit log has it."""
        return {"question": self.text, "entity": self.entity, "aspects": list(self.aspects)}

    @property
    def where(self) -> Where:
        """Its filters."""
        return {**self.fields, **{name: Between(*bounds) for name, bounds in self.bounds.items()}}

    @property
    def filtered(self) -> bool:
        """Whether only some documents are asked."""
        return bool(self.fields or self.bounds)

    @property
    def parameters(self) -> list[tuple[str, str]]:
        """As an address has them; only what is not as it is at first."""
        told = [("q", self.text), ("index", self.index)]
        if self.by_parts:
            told += [("e", self.entity), *(("a", aspect) for aspect in self.aspects)]
        told += [("as", "words" if self.as_words else ""), *self.filters]
        told += [("start", str(self.start) if self.start else "")]
        return [(name, value) for name, value in told if value or (name == "e" and not self.aspects)]

    @property
    def filters(self) -> list[tuple[str, str]]:
        """The parameters of the filters alone."""
        told = [(_FIELD + name, value) for name, values in self.fields.items() for value in values]
        for name, (first, last) in self.bounds.items():
            told += [pair for pair in ((_FROM + name, first), (_TO + name, last)) if pair[1]]
        return told

    def at(self, path: str = "", anchor: str = "", *more: tuple[str, str]) -> str:
        """Return the address of this at a page."""
        told = urlencode([*self.parameters, *more])
        return f"{path or self.path}{'?' if told else ''}{told}{'#' if anchor else ''}{anchor}"

    def by_entity(self, entity: str, aspects: Sequence[str]) -> Asked:
        """Return the same question, asked by these parts."""
        return replace(self, entity=entity, aspects=tuple(aspects), by_parts=True, as_words=False, start=0)

    def in_words(self, text: str) -> Asked:
        """Return the same question, asked in other words."""
        return replace(self, text=text, entity="", aspects=(), by_parts=False, as_words=False, start=0)

    def with_value(self, name: str, value: str, chosen: bool) -> Asked:
        """Return the same question with one value of a field among its filters, or without it."""
        kept = tuple(each for each in self.fields.get(name, ()) if each != value)
        fields = {**self.fields, name: (*kept, value) if chosen else kept}
        return replace(self, fields={key: values for key, values in fields.items() if values}, start=0)

    def without_filters(self) -> Asked:
        """Return the same question of all documents."""
        return replace(self, fields={}, bounds={}, start=0)

    def from_hit(self, start: int) -> Asked:
        """Return the same question, shown from another hit on."""
        return replace(self, start=start)


def document_path(index: str, doc_id: str) -> str:
    """Return the path of a document's page."""
    return f"/d/{quote(index, safe='')}/{quote(doc_id, safe='/')}"
