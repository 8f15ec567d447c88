"""The tools for language models: search, read, cite, coverage, indexes. None of them changes an index."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from auscult.documents import Document
from auscult.encoders.contract import DocumentEncoder
from auscult.engines import signs_of
from auscult.errors import IndexFolderError, QueryError
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
from auscult.schema import Assertion, select_fields
from auscult.search import Searcher, SearchOptions
from auscult.search.certainty import nothing_here
from auscult.search.coverage import cover, entities_named
from auscult.search.hits import Hit, SentenceScore, date_of
from auscult.search.partial import ask_what_is_there
from auscult.search.sentence_ids import CitedSentence, find_sentence, sentence_id
from auscult.search.siblings import sibling_note
from auscult.understanding import Query


class Library:
    """Indexes by name.

    Args:
        indexes: Index folders, or addresses of servers that have a whole index, by name; at least one.
        groups: Groups whose documents are visible, besides documents without a group; None for all documents.
        encoder: The model for all indexes; None for the models that their manifests name.
    """

    def __init__(
        self,
        indexes: Mapping[str, Path | str],
        groups: Sequence[str] | None = None,
        encoder: DocumentEncoder | None = None,
    ) -> None:
        self._indexes = dict(indexes)
        self._groups = groups
        self._encoder = encoder
        self._opened: dict[str, tuple[object, Searcher]] = {}
        self._opening = threading.Lock()

    @property
    def names(self) -> list[str]:
        """Names of the indexes in order."""
        return list(self._indexes)

    def searchers(self, name: str = "") -> dict[str, Searcher]:
        """Return the searcher of an index, or of all indexes without a name.

        Raises:
            QueryError: There is no such index.
            IndexFolderError: An index cannot be opened.
        """
        if name and name not in self._indexes:
            raise QueryError(f"the name of an index ({', '.join(self.names)})", f"'{name}'", "name one of these")
        return {each: self._searcher(each) for each in ([name] if name else self.names)}

    def _searcher(self, name: str) -> Searcher:
        with self._opening:
            signs = signs_of(self._indexes[name])
            known, searcher = self._opened.get(name, (None, None))
            if searcher is not None and known == signs:
                return searcher
            encoder = searcher.encoder if searcher else self._encoder
            try:
                opened = Searcher.open(self._indexes[name], encoder)
            except IndexFolderError:
                if encoder is None or encoder is self._encoder:
                    raise
                # It may have been built again with another model.
                opened = Searcher.open(self._indexes[name])
            if self._groups is not None:
                opened = opened.seen_by(self._groups)
            # Reading a database changes its signs once: keep the searcher of the same generation.
            if searcher is not None and _generation(searcher) == _generation(opened):
                opened = searcher
            self._opened[name] = signs, opened
            return opened


def _generation(searcher: Searcher) -> tuple[str, int]:
    manifest = searcher.index.manifest
    return manifest.identity, manifest.generation


MOST_HITS: Final = 20
MOST_IDS: Final = 100
MOST_READ: Final = 120
MOST_CELLS: Final = 200
MOST_TEXT: Final = 500_000
MOST_WORDS: Final = 2_000
_SHOWN: Final = 12
_VALUES: Final = 12
Given = Mapping[str, str | list[str]]


def search(
    library: Library,
    question: str,
    entity: str,
    aspects: Sequence[str],
    index: str,
    k: int,
    where: Given,
    *,
    conversation: Sequence[str] = (),
    assertions: Sequence[Assertion] = (),
) -> Found:
    """Return the best passages of one index or all; what the question lacks is taken from earlier questions.

    Raises:
        AuscultError: There is no question, an option is out of range, or an index cannot be opened.
    """
    _check_between("k", k, 1, MOST_HITS)
    query = Query("", _words(entity), tuple(map(_words, aspects)), text=_words(question))
    earlier = [*map(_words, conversation)]
    ranked: list[tuple[str, Hit, str]] = []
    notes, refused, not_searched = [], [], []

    def ask(searcher: Searcher) -> tuple[str, list[tuple[Hit, str]] | QueryError]:
        understood = searcher.understand(query, earlier)
        options = SearchOptions(where=_conditions(where), assertions=assertions)
        try:
            hits = searcher.search(understood.query, k, options)
        except QueryError as error:
            return understood.note, error
        known = searcher.knowledge_base
        return understood.note, [(hit, sibling_note(understood.query, hit.title, known)) for hit in hits]

    for name, searcher in library.searchers(index).items():
        (note, hits), left_out = ask_what_is_there(searcher, ask)
        if isinstance(hits, QueryError):
            refused.append(hits)
            continue
        notes.append(note)
        ranked += [(name, *pair) for pair in hits]
        if left_out is not None:
            not_searched.append(f"{name}: {left_out.sentence}")
    if not notes:
        raise refused[0]
    ranked.sort(key=lambda item: -item[1].score)
    ranked = ranked[:k]
    nothing = "" if not_searched else nothing_here([hit.probability for _, hit, _ in ranked])
    return Found(notes[0], nothing, " ".join(not_searched), [_passage(*item) for item in ranked])


def read(library: Library, sentence: str, document: str, index: str, before: int, behind: int, first: int) -> Reading:
    """Return the sentences around one, or those of a document from `first` on; at most MOST_READ of them.

    Raises:
        AuscultError: Neither or both are named, there is no such sentence or document, or a number is out of range.
    """
    if bool(sentence) == bool(document):
        got = "both" if sentence else "neither"
        raise QueryError("the id of a sentence or of a document", got, "give one of them")
    _check_between("before", before, 0, MOST_READ)
    _check_between("behind", behind, 0, MOST_READ)
    if sentence:
        name, found = _find(library, index, sentence)
        whole, begin = found.document, max(0, found.number - before)
        end = min(found.number + behind + 1, begin + MOST_READ)
    else:
        name, whole = _document(library, index, document)
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
        sections=_sections(whole, begin, end),
    )


def text_of(library: Library, index: str, document: str) -> str:
    """Return the text of a document of at most MOST_TEXT characters.

    Raises:
        AuscultError: There is no such index or document, or its text is longer.
    """
    text = _document(library, index, document)[1].text
    if len(text) > MOST_TEXT:
        raise QueryError(f"a document of at most {MOST_TEXT} characters", str(len(text)), "read it with the tool read")
    return text


def cite(library: Library, ids: Sequence[str]) -> Citations:
    """Return the exact sentence of each id, or that there is none.

    Raises:
        AuscultError: There are no ids or more than MOST_IDS, or an index cannot be opened.
    """
    _check_between("how many ids", len(ids), 1, MOST_IDS)
    citations = [_citation(library, id_) for id_ in ids]
    return Citations(all(citation.exists for citation in citations), citations)


def coverage(
    library: Library, entities: Sequence[str], aspects: Sequence[str], index: str, where: Given
) -> CoverageTable:
    """Return which aspects of entities an index answers.

    Raises:
        AuscultError: No entity or no aspect, too many of both, or an unknown index, field or value.
    """
    name, searcher = next(iter(library.searchers(index or library.names[0]).items()))
    names = entities_named(searcher, [*map(_words, entities)])
    if len(names) * max(1, len(aspects)) > MOST_CELLS:
        raise QueryError(f"at most {MOST_CELLS} cells", "more", "ask for fewer entities or aspects at once")
    table = cover(searcher, names, [*map(_words, aspects)], where=_conditions(where))
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
            sentence=_sentence(cell.hit, cell.hit.answer) if cell.hit and cell.hit.answer else None,
        )
        for understood, row in zip(table.entities, table.cells, strict=True)
        for aspect, cell in zip(table.aspects, row, strict=True)
    ]
    return CoverageTable(name, [each.query.entity for each in table.entities], list(table.aspects), cells)


def indexes(library: Library) -> Indexes:
    """Describe the indexes: their sizes and their fields."""
    descriptions = []
    for name, searcher in library.searchers().items():
        counts = searcher.index.manifest.counts
        fields = {field: list(searcher.index.counts(field))[:_VALUES] for field in searcher.index.reader.fields}
        descriptions.append(IndexAbout(name, counts.documents, counts.passages, counts.sentences, fields))
    return Indexes(descriptions)


def _passage(index: str, hit: Hit, note: str) -> Passage:
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
        sentences=[_sentence(hit, sentence) for sentence in shown],
        answering=[_sentence(hit, sentence).id for sentence in shown if sentence.marked],
        more_before=first,
        more_behind=len(hit.sentences) - last,
    )


def _sentence(hit: Hit, sentence: SentenceScore) -> Sentence:
    id_ = sentence_id(hit.doc_id, sentence.start, sentence.end, sentence.text)
    return Sentence(id_, sentence.text, [*sentence.assertions])


def _sections(document: Document, first: int, last: int) -> list[Section]:
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


def _citation(library: Library, id_: str) -> Citation:
    try:
        name, match = _find(library, "", id_)
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


def _find(library: Library, index: str, id_: str) -> tuple[str, CitedSentence]:
    """Find a sentence in the first index that has it."""
    refused: list[QueryError] = []
    for name, searcher in library.searchers(index).items():
        try:
            return name, find_sentence(searcher.index.reader, id_)
        except QueryError as error:
            refused.append(error)
    raise refused[-1]


def _document(library: Library, index: str, doc_id: str) -> tuple[str, Document]:
    for name, searcher in library.searchers(index).items():
        row = searcher.index.reader.row_of(doc_id)
        if row is not None:
            return name, searcher.index.reader.document(row)
    raise QueryError("the id of a document here", f"'{doc_id}'", "take one from the answer of a search")


def _conditions(given: Given) -> Where:
    """Return values of fields, and ranges as in "2019..2021-06"."""
    conditions: dict[str, str | Sequence[str] | Between] = {}
    for field, value in given.items():
        if isinstance(value, str) and ".." in value:
            first, _, last = value.partition("..")
            conditions[field] = Between(first, last)
        else:
            conditions[field] = value
    return conditions


def _words(text: str) -> str:
    if len(text) > MOST_WORDS:
        raise QueryError(f"at most {MOST_WORDS} characters", f"{len(text)}", "ask in fewer words")
    return text.strip()


def _check_between(what: str, number: int, least: int, most: int) -> None:
    if not least <= number <= most:
        raise QueryError(f"{what} from {least} to {most}", str(number), "choose one of these")
