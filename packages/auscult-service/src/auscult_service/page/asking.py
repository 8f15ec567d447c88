"""Questions in URLs of the page. Every chip, filter and page of hits is a link to a similar question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, get_args
from urllib.parse import quote, urlencode

from auscult.index.fields import Between, Where
from auscult.schema import Assertion
from auscult.understanding import Query
from auscult.understanding.conversation import MOST_EARLIER
from auscult.understanding.understand import Understanding
from auscult_service.errors import Refusal

PER_PAGE: Final = 10
FURTHEST: Final = 200
"""Number of hits that can be paged through."""
_LONGEST: Final = 2000
_ASKED: Final = frozenset({"q", "e", "a", "c"})
_LONGEST_CONVERSATION: Final = 4_000
"""Characters of earlier questions in a URL, as browsers and proxies refuse long URLs."""
_FIELD, _FROM, _TO = "f.", "from.", "to."
ASSERTIONS: Final[tuple[Assertion, ...]] = get_args(Assertion)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageQuestion:
    """The question and filters in a URL of the page.

    Attributes:
        text: Text of the search box.
        index: Name of the index; empty for the first.
        entity: Entity that was chosen by hand, a name or an identifier; empty to read it from the text.
        aspects: Aspects that were chosen by hand.
        by_parts: Whether entity and aspects were chosen by hand, and the text is ignored.
        as_words: Whether to search for the words of the text without understanding it.
        conversation: Earlier questions, oldest first; what the text lacks is taken from them.
        choices: Entity and aspects chosen by hand, in words for a following question; empty where none were chosen.
        fields: By field, the values that a document may have.
        bounds: By field, the first and the last value (dates).
        assertions: What hits may say about the entity, where they mention it; empty for all.
        start: Number of the first hit on the page, from 0.
        path: Path of the page.
    """

    text: str = ""
    index: str = ""
    entity: str = ""
    aspects: tuple[str, ...] = ()
    by_parts: bool = False
    as_words: bool = False
    conversation: tuple[str, ...] = ()
    choices: str = ""
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    bounds: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    assertions: tuple[Assertion, ...] = ()
    start: int = 0
    path: str = "/"

    @classmethod
    def of(cls, parameters: Sequence[tuple[str, str]]) -> PageQuestion:
        """Read the parameters of a URL, which anyone may have written; unknown ones are ignored.

        Raises:
            Refusal: The question is too long. It is not cut, as that would change it.
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
        # The form sends the question before the new one. A question that is sent twice does not follow itself.
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
            conversation=_keep_latest(earlier),
            fields=fields,
            bounds={name: (single.get(_FROM + name, ""), single.get(_TO + name, "")) for name in bounded},
            assertions=tuple(each for each in ASSERTIONS if ("assertion", each) in parameters),
            start=min(int(start), FURTHEST) if start.isascii() and start.isdigit() else 0,
        )

    @property
    def is_empty(self) -> bool:
        """Whether there is no question."""
        return not (self.text or self.entity or self.aspects)

    @property
    def query(self) -> Query:
        """Query to understand. Chosen parts replace the text."""
        if self.by_parts and not self.as_words:
            return Query("", self.entity, self.aspects)
        return Query("", "", (), "", self.text)

    @property
    def earlier(self) -> tuple[str, ...]:
        """Earlier questions that the text may refer to; empty where parts were chosen or the text is only words."""
        return () if self.by_parts or self.as_words else self.conversation

    @property
    def following(self) -> tuple[str, ...]:
        """Earlier questions for the next question."""
        return _keep_latest([*self.earlier, *filter(None, (self.choices if self.by_parts else self.text,))])

    @property
    def trail(self) -> list[tuple[str, str]]:
        """Each earlier question with its URL."""
        earlier = ((question, self.conversation[:number]) for number, question in enumerate(self.earlier))
        return [(question, replace(self.in_words(question), conversation=before).at()) for question, before in earlier]

    @property
    def words(self) -> dict[str, object]:
        """The question and the earlier ones as the audit log records them."""
        words: dict[str, object] = {"question": self.text, "entity": self.entity, "aspects": list(self.aspects)}
        return {**words, **({"conversation": list(self.earlier)} if self.earlier else {})}

    @property
    def where(self) -> Where:
        """Its filters as an index takes them."""
        return {**self.fields, **{name: Between(*bounds) for name, bounds in self.bounds.items()}}

    @property
    def filtered(self) -> bool:
        """Whether some documents or passages are left out."""
        return bool(self.fields or self.bounds or self.assertions)

    @property
    def parameters(self) -> list[tuple[str, str]]:
        """Query parameters of the URL, without those at their default."""
        pairs = [("q", self.text), ("index", self.index), *(("c", each) for each in self.earlier)]
        if self.by_parts:
            pairs += [("e", self.entity), *(("a", aspect) for aspect in self.aspects)]
        pairs += [("as", "words" if self.as_words else ""), *self.filters]
        pairs += [("start", str(self.start) if self.start else "")]
        return [(name, value) for name, value in pairs if value or (name == "e" and not self.aspects)]

    @property
    def filters(self) -> list[tuple[str, str]]:
        """Query parameters of the filters only."""
        pairs = [(_FIELD + name, value) for name, values in self.fields.items() for value in values]
        for name, (first, last) in self.bounds.items():
            pairs += [pair for pair in ((_FROM + name, first), (_TO + name, last)) if pair[1]]
        return [*pairs, *(("assertion", each) for each in self.assertions)]

    def at(self, path: str = "", anchor: str = "", *more: tuple[str, str]) -> str:
        """Return the URL of this question at a page."""
        query = urlencode([*self.parameters, *more])
        return f"{path or self.path}{'?' if query else ''}{query}{'#' if anchor else ''}{anchor}"

    def settled(self, understood: Understanding) -> PageQuestion:
        """Return the same question without earlier questions that it does not need.

        A question that names its entity and takes nothing from earlier ones begins a new conversation.
        """
        took = bool(understood.taken_entity or understood.taken_aspects)
        begins = bool(understood.query.entity) and not took
        choices = understood.query.terms if self.by_parts else ""
        return replace(self, conversation=() if begins else self.earlier, choices=choices)

    def by_itself(self) -> PageQuestion:
        """Return the same question without the earlier ones."""
        return replace(self, conversation=(), start=0)

    def by_entity(self, entity: str, aspects: Sequence[str]) -> PageQuestion:
        """Return the question with an entity and aspects chosen by hand."""
        return replace(self, entity=entity, aspects=tuple(aspects), by_parts=True, as_words=False, start=0)

    def in_words(self, text: str) -> PageQuestion:
        """Return the question with another text, and nothing chosen by hand."""
        return replace(self, text=text, entity="", aspects=(), by_parts=False, as_words=False, start=0)

    def with_value(self, name: str, value: str, chosen: bool) -> PageQuestion:
        """Return the same question with one value of a field among its filters, or without it."""
        others = tuple(each for each in self.fields.get(name, ()) if each != value)
        fields = {**self.fields, name: (*others, value) if chosen else others}
        return replace(self, fields={key: values for key, values in fields.items() if values}, start=0)

    def with_assertion(self, assertion: Assertion, chosen: bool) -> PageQuestion:
        """Return the same question with one assertion more or less that hits may make about the entity."""
        assertions = {*self.assertions, assertion} if chosen else {*self.assertions} - {assertion}
        return replace(self, assertions=tuple(each for each in ASSERTIONS if each in assertions), start=0)

    def without_filters(self) -> PageQuestion:
        """Return the same question without filters."""
        return replace(self, fields={}, bounds={}, assertions=(), start=0)

    def from_hit(self, start: int) -> PageQuestion:
        """Return the same question for the page that begins with another hit."""
        return replace(self, start=start)


def _keep_latest(questions: Sequence[str]) -> tuple[str, ...]:
    """Return the last questions of a conversation, as many as are used and fit into a URL."""
    latest: list[str] = []
    for question in reversed(questions[-MOST_EARLIER:]):
        if sum(map(len, latest)) + len(question) > _LONGEST_CONVERSATION:
            break
        latest.append(question)
    return tuple(reversed(latest))


def document_path(index: str, doc_id: str) -> str:
    """Return the path of a document's page."""
    return f"/d/{quote(index, safe='')}/{quote(doc_id, safe='/')}"
