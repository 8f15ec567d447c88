"""What an address asks for, and the addresses of everything near it: every chip, filter and page of hits is a link."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, get_args
from urllib.parse import quote, urlencode

from auscult.index.fields import Between, Where
from auscult.interfaces import Assertion
from auscult.service.errors import Refusal
from auscult.understanding import Query
from auscult.understanding.conversation import MOST_EARLIER
from auscult.understanding.understand import Understanding

PER_PAGE: Final = 10
FURTHEST: Final = 200
"""Hits that are paged through at most; whoever has not found it there asks otherwise."""
_LONGEST: Final = 2000
_ASKED: Final = frozenset({"q", "e", "a", "c"})
_LONGEST_CONVERSATION: Final = 4_000
"""Characters of earlier questions in an address; browsers and proxies refuse long ones."""
_FIELD, _FROM, _TO = "f.", "from.", "to."
ASSERTIONS: Final[tuple[Assertion, ...]] = get_args(Assertion)


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
        conversation: Earlier questions, the first one first; what the text lacks is taken from them.
        said: What was chosen by hand, in words that a following question can refer to; empty where nothing was.
        fields: By field, the values that a document may have.
        bounds: By field, the first and the last value (dates).
        assertions: What hits may say of the entity, where they mention it; empty for all.
        start: Number of the first hit shown, from 0.
        path: Of the page that asks.
    """

    text: str = ""
    index: str = ""
    entity: str = ""
    aspects: tuple[str, ...] = ()
    by_parts: bool = False
    as_words: bool = False
    conversation: tuple[str, ...] = ()
    said: str = ""
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    bounds: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    assertions: tuple[Assertion, ...] = ()
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
        text = single.get("q", "").strip()
        earlier = [value.strip() for name, value in parameters if name == "c" and value.strip()]
        # The box sends what it followed: a question that is sent twice does not follow itself.
        while earlier and earlier[-1] == text:
            earlier.pop()
        return cls(
            text=text,
            index=single.get("index", ""),
            entity=single.get("e", "").strip(),
            aspects=tuple(dict.fromkeys(value.strip() for name, value in parameters if name == "a" and value.strip()))[
                :12
            ],
            by_parts="e" in single or "a" in single,
            as_words=single.get("as") == "words",
            conversation=_latest(earlier),
            fields=fields,
            bounds={name: (single.get(_FROM + name, ""), single.get(_TO + name, "")) for name in bounded},
            assertions=tuple(each for each in ASSERTIONS if ("assertion", each) in parameters),
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
    def earlier(self) -> tuple[str, ...]:
        """Earlier questions that the text may refer to; none where it was chosen by hand, or is taken as it stands."""
        return () if self.by_parts or self.as_words else self.conversation

    @property
    def following(self) -> tuple[str, ...]:
        """Earlier questions of whatever is asked next."""
        return _latest([*self.earlier, *filter(None, (self.said if self.by_parts else self.text,))])

    @property
    def trail(self) -> list[tuple[str, str]]:
        """Each earlier question, and the address that asks it again."""
        told = ((each, self.conversation[:number]) for number, each in enumerate(self.earlier))
        return [(each, replace(self.in_words(each), conversation=before).at()) for each, before in told]

    @property
    def words(self) -> dict[str, object]:
        """The question as the audit log has it, with the earlier ones."""
        told: dict[str, object] = {"question": self.text, "entity": self.entity, "aspects": list(self.aspects)}
        return {**told, **({"conversation": list(self.earlier)} if self.earlier else {})}

    @property
    def where(self) -> Where:
        """Its filters."""
        return {**self.fields, **{name: Between(*bounds) for name, bounds in self.bounds.items()}}

    @property
    def filtered(self) -> bool:
        """Whether some documents or passages are left out."""
        return bool(self.fields or self.bounds or self.assertions)

    @property
    def parameters(self) -> list[tuple[str, str]]:
        """As an address has them; only what is not as it is at first."""
        told = [("q", self.text), ("index", self.index), *(("c", each) for each in self.earlier)]
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
        return [*told, *(("assertion", each) for each in self.assertions)]

    @property
    def narrowed(self) -> str:
        """Its filters in words: "source: NHS or GARD; date: 2020 to 2021-06; negated"; empty without any."""
        told = [f"{name.replace('_', ' ')}: {' or '.join(values)}" for name, values in self.fields.items()]
        for name, (first, last) in self.bounds.items():
            told.append(
                " ".join(filter(None, (f"{name.replace('_', ' ')}:", first and f"from {first}", last and f"to {last}")))
            )
        return "; ".join((*told, *([" or ".join(self.assertions)] if self.assertions else [])))

    def at(self, path: str = "", anchor: str = "", *more: tuple[str, str]) -> str:
        """Return the address of this at a page."""
        told = urlencode([*self.parameters, *more])
        return f"{path or self.path}{'?' if told else ''}{told}{'#' if anchor else ''}{anchor}"

    def settled(self, understood: Understanding) -> Asked:
        """Return the same question without earlier questions that it does not need.

        One that names what it is about, and took nothing from before, begins a conversation of its own.
        """
        took = bool(understood.taken_entity or understood.taken_aspects)
        begins = bool(understood.query.entity) and not took
        said = understood.query.terms if self.by_parts else ""
        return replace(self, conversation=() if begins else self.earlier, said=said)

    def by_itself(self) -> Asked:
        """Return the same question without the earlier ones."""
        return replace(self, conversation=(), start=0)

    def afresh(self) -> str:
        """Return the address where nothing is asked yet."""
        return Asked(index=self.index).at("/")

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

    def with_assertion(self, assertion: Assertion, chosen: bool) -> Asked:
        """Return the same question with one more thing that hits may say of the entity, or without it."""
        kept = {*self.assertions, assertion} if chosen else {*self.assertions} - {assertion}
        return replace(self, assertions=tuple(each for each in ASSERTIONS if each in kept), start=0)

    def without_filters(self) -> Asked:
        """Return the same question of all documents and passages."""
        return replace(self, fields={}, bounds={}, assertions=(), start=0)

    def from_hit(self, start: int) -> Asked:
        """Return the same question, shown from another hit on."""
        return replace(self, start=start)


def _latest(questions: Sequence[str]) -> tuple[str, ...]:
    """Return the last questions of a conversation, as many as are read and fit into an address."""
    kept: list[str] = []
    for each in reversed(questions[-MOST_EARLIER:]):
        if sum(map(len, kept)) + len(each) > _LONGEST_CONVERSATION:
            break
        kept.append(each)
    return tuple(reversed(kept))


def document_path(index: str, doc_id: str) -> str:
    """Return the path of a document's page."""
    return f"/d/{quote(index, safe='')}/{quote(doc_id, safe='/')}"
