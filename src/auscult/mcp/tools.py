"""The tools for language models: search, read, cite, coverage, indexes. None of them changes an index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Final

from pydantic import Field

from auscult.documents import Document
from auscult.encoders.contract import languages_of
from auscult.errors import QueryError
from auscult.index import Between, Where
from auscult.mcp.answers import (
    Citation,
    Citations,
    CoverageCell,
    CoverageTable,
    Found,
    IndexAbout,
    Indexes,
    Passage,
    Reading,
    Section,
    Sentence,
)
from auscult.mcp.library import Library
from auscult.schema import Assertion, select_fields
from auscult.search import Searcher, SearchOptions
from auscult.search.certainty import nothing_here
from auscult.search.coverage import cover, entities_named
from auscult.search.hits import Hit, SentenceScore, date_of
from auscult.search.languages import say_unread
from auscult.search.partial import ask_what_is_there
from auscult.search.sentence_ids import sentence_id
from auscult.search.siblings import sibling_note
from auscult.understanding import Query
from auscult.understanding.understand import Understanding

MOST_HITS: Final = 20
MOST_IDS: Final = 100
MOST_READ: Final = 120
MOST_CELLS: Final = 200
MOST_TEXT: Final = 500_000
MOST_WORDS: Final = 2_000
_SHOWN: Final = 12
_VALUES: Final = 12

Index = Annotated[str, Field(description="An index by its name (see `indexes`); empty for all of them.")]
Filters = Annotated[
    dict[str, str | list[str]] | None,
    Field(
        description="Only documents whose fields have these values: a value, a list of which one suffices, or a "
        'range such as "2019..2021-06". `indexes` names fields and values.'
    ),
]
Words = Annotated[list[str] | None, Field(description="Such as symptoms, treatment, causes, side effects.")]


class Tools:
    """The tools over a library. A language model sees their signatures and docstrings.

    All of them raise an `AuscultError` where an argument is missing, out of range or unknown, or an index cannot be
    opened.
    """

    def __init__(self, library: Library) -> None:
        self._library = library

    def search(
        self,
        question: Annotated[str, Field(description='In words: "How is gout treated?"')] = "",
        entity: Annotated[str, Field(description="In place of a question: a disease, symptom or medicine.")] = "",
        aspects: Words = None,
        index: Index = "",
        k: Annotated[int, Field(description=f"How many passages, 1 to {MOST_HITS}.")] = 5,
        where: Filters = None,
        conversation: Annotated[
            list[str] | None,
            Field(description="Earlier questions, the first one first: what the question lacks is taken from them."),
        ] = None,
        assertions: Annotated[
            list[Assertion] | None,
            Field(
                description="Leave out passages that mention the entity and say none of these of it; ['affirmed'] for "
                "what a patient has, and neither what is denied nor what a relative had."
            ),
        ] = None,
    ) -> Found:
        """Find the passages that answer a question, or aspects of an entity. Each sentence has an id to cite."""
        _check_between("k", k, 1, MOST_HITS)
        query = Query("", _check_words(entity), tuple(map(_check_words, aspects or ())), text=_check_words(question))
        earlier = [*map(_check_words, conversation or ())]
        ranked: list[tuple[str, Hit, str]] = []
        understood: list[Understanding] = []
        unread_notes: dict[str, str] = {}
        refused, not_searched = [], []

        def ask(searcher: Searcher) -> tuple[Understanding, list[tuple[Hit, str]] | QueryError]:
            understanding = searcher.understand(query, earlier)
            options = SearchOptions(where=_parse_conditions(where or {}), assertions=assertions or ())
            try:
                hits = searcher.search(understanding.query, k, options)
            except QueryError as error:
                return understanding, error
            known = searcher.knowledge_base
            return understanding, [(hit, sibling_note(understanding.query, hit.title, known)) for hit in hits]

        for name, searcher in self._library.searchers(index).items():
            (understanding, hits), left_out = ask_what_is_there(searcher, ask)
            if isinstance(hits, QueryError):
                refused.append(hits)
                continue
            understood.append(understanding)
            unread_notes[name] = say_unread(understanding.language, languages_of(searcher.encoder))
            ranked += [(name, *pair) for pair in hits]
            if left_out is not None:
                not_searched.append(f"{name}: {left_out.sentence}")
        if not understood:
            raise refused[0]
        ranked.sort(key=lambda item: -item[1].score)
        ranked = ranked[:k]
        unread = next((unread_notes[name] for name, hit, _ in ranked if hit.unread), "")
        nothing = "" if not_searched or unread else nothing_here([hit.probability for _, hit, _ in ranked])
        passages = [_to_passage(*item) for item in ranked]
        return Found(understood[0].note, nothing, " ".join(not_searched), passages, understood[0].language, unread)

    def read(
        self,
        sentence: Annotated[str, Field(description="The id of a sentence, to read around it.")] = "",
        document: Annotated[str, Field(description="Or the id of a document, to read it.")] = "",
        index: Index = "",
        before: Annotated[int, Field(description="Sentences before the one named.")] = 5,
        behind: Annotated[int, Field(description="Sentences behind it.")] = 5,
        first: Annotated[int, Field(description="Of a document: the sentence to begin with, from 0.")] = 0,
    ) -> Reading:
        """Read on: the sentences around one, or a document, up to 120 sentences at once."""
        if bool(sentence) == bool(document):
            got = "both" if sentence else "neither"
            raise QueryError("the id of a sentence or of a document", got, "give one of them")
        _check_between("before", before, 0, MOST_READ)
        _check_between("behind", behind, 0, MOST_READ)
        if sentence:
            name, found = self._library.find_sentence(index, sentence)
            whole, begin = found.document, max(0, found.number - before)
            end = min(found.number + behind + 1, begin + MOST_READ)
        else:
            name, whole = self._library.find_document(index, document)
            _check_between("first", first, 0, max(0, len(whole.sentences) - 1))
            begin, end = first, first + MOST_READ
        end = min(end, len(whole.sentences))
        return select_fields(
            Reading,
            whole,
            index=name,
            document=whole.doc_id,
            date=date_of(whole.metadata),
            first=begin,
            last=end,
            sentences_in_all=len(whole.sentences),
            sections=_list_sections(whole, begin, end),
        )

    def cite(self, ids: Annotated[list[str], Field(description="Ids of sentences, copied from answers.")]) -> Citations:
        """Check citations: the exact sentence of each id with its source, or that it does not exist."""
        _check_between("how many ids", len(ids), 1, MOST_IDS)
        citations = [self._cite(id_) for id_ in ids]
        return Citations(all(citation.exists for citation in citations), citations)

    def coverage(
        self,
        entities: Annotated[list[str], Field(description="Diseases, symptoms, medicines.")],
        aspects: Words = None,
        index: Annotated[str, Field(description="An index by its name; empty for the first.")] = "",
        where: Filters = None,
    ) -> CoverageTable:
        """Which aspects of these entities the documents answer. Without aspects: those that headings name."""
        name, searcher = next(iter(self._library.searchers(index or self._library.names[0]).items()))
        names = entities_named(searcher, [*map(_check_words, entities)])
        if len(names) * max(1, len(aspects or ())) > MOST_CELLS:
            raise QueryError(f"at most {MOST_CELLS} cells", "more", "ask for fewer entities or aspects at once")
        table = cover(searcher, names, [*map(_check_words, aspects or ())], where=_parse_conditions(where or {}))
        cells = [
            select_fields(
                CoverageCell,
                cell,
                entity=understood.query.entity,
                aspect=aspect,
                probability=round(cell.probability, 3),
                similar=cell.similar.title if cell.similar else "",
                document=cell.hit.doc_id if cell.hit else "",
                title=cell.hit.title if cell.hit else "",
                heading=cell.hit.heading if cell.hit else "",
                sentence=_to_sentence(cell.hit, cell.hit.answer) if cell.hit and cell.hit.answer else None,
            )
            for understood, row in zip(table.entities, table.cells, strict=True)
            for aspect, cell in zip(table.aspects, row, strict=True)
        ]
        return CoverageTable(name, [each.query.entity for each in table.entities], list(table.aspects), cells)

    def indexes(self) -> Indexes:
        """What can be asked: the indexes, how much they hold, and the fields to filter by."""
        descriptions = []
        for name, searcher in self._library.searchers().items():
            counts = searcher.index.manifest.counts
            fields = {field: list(searcher.index.counts(field))[:_VALUES] for field in searcher.index.reader.fields}
            descriptions.append(IndexAbout(name, counts.documents, counts.passages, counts.sentences, fields))
        return Indexes(descriptions)

    def text_of(self, index: str, document: str) -> str:
        """The text of a document of at most MOST_TEXT characters."""
        text = self._library.find_document(index, document)[1].text
        if len(text) > MOST_TEXT:
            raise QueryError(
                f"a document of at most {MOST_TEXT} characters", str(len(text)), "read it with the tool read"
            )
        return text

    def _cite(self, id_: str) -> Citation:
        try:
            name, match = self._library.find_sentence("", id_)
        except QueryError as error:
            return Citation(id_, exists=False, problem=f"{error}.")
        document = match.document
        return Citation(
            id_,
            exists=True,
            text=match.text,
            index=name,
            document=document.doc_id,
            title=document.title,
            above=match.passage.above,
            heading=match.passage.heading,
            file=document.metadata.get("file", ""),
            place=match.place,
            source=document.source,
            url=document.url,
            date=date_of(document.metadata),
        )


def _to_passage(index: str, hit: Hit, note: str) -> Passage:
    # Of all windows of that many sentences, take the one with the most marked ones, then with the highest scores.
    def worth(start: int) -> tuple[int, float]:
        shown = hit.sentences[start : start + _SHOWN]
        return sum(sentence.marked for sentence in shown), sum(sentence.score for sentence in shown)

    first = max(range(max(0, len(hit.sentences) - _SHOWN) + 1), key=worth)
    last = min(len(hit.sentences), first + _SHOWN)
    shown = hit.sentences[first:last]
    return select_fields(
        Passage,
        hit,
        index=index,
        document=hit.doc_id,
        above=list(hit.above),
        date=date_of(hit.metadata),
        probability=None if hit.probability is None else round(hit.probability, 3),
        note=note,
        sentences=[_to_sentence(hit, sentence) for sentence in shown],
        answering=[_to_sentence(hit, sentence).id for sentence in shown if sentence.marked],
        more_before=first,
        more_behind=len(hit.sentences) - last,
    )


def _to_sentence(hit: Hit, sentence: SentenceScore) -> Sentence:
    id_ = sentence_id(hit.doc_id, sentence.start, sentence.end, sentence.text)
    return Sentence(id_, sentence.text, [*sentence.assertions])


def _list_sections(document: Document, first: int, last: int) -> list[Section]:
    """Return the sentences from `first` up to `last`, by passage."""
    sections, number = [], 0
    for passage in document.passages:
        inside = [
            Sentence(
                sentence_id(document.doc_id, sentence.start, sentence.end, document.slice(sentence)),
                document.slice(sentence),
            )
            for place, sentence in enumerate(passage.sentences, start=number)
            if first <= place < last
        ]
        number += len(passage.sentences)
        if inside:
            sections.append(Section(passage.above, passage.heading, inside))
    return sections


def _parse_conditions(given: Mapping[str, str | list[str]]) -> Where:
    """Return values of fields, and ranges as in "2019..2021-06"."""
    conditions: dict[str, str | Sequence[str] | Between] = {}
    for field, value in given.items():
        if isinstance(value, str) and ".." in value:
            first, _, last = value.partition("..")
            conditions[field] = Between(first, last)
        else:
            conditions[field] = value
    return conditions


def _check_words(text: str) -> str:
    if len(text) > MOST_WORDS:
        raise QueryError(f"at most {MOST_WORDS} characters", f"{len(text)}", "ask in fewer words")
    return text.strip()


def _check_between(what: str, number: int, least: int, most: int) -> None:
    if not least <= number <= most:
        raise QueryError(f"{what} from {least} to {most}", str(number), "choose one of these")
