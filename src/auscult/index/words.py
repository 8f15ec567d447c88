"""Words of a segment: how often each term occurs in each passage, heading, title and article.

The format is in docs/reference/index-format.md.

A query's words are scored on an absolute scale, so that scores are comparable between queries and collections:

    coverage(Q, d) = sum over terms t of Q of  idf(t) · tf / (tf + k1 · (1 - b + b · |d| / mean |d|))
                     divided by the sum of idf(t)

which is BM25 (robertson1995) as a share of the largest possible score: 0 where no term occurs, and below 1. A term that
the collection lacks counts like its rarest one, so that a question about something else gets low scores. Terms are
stemmed, without stop words.

An index may have several segments with deleted texts. Statistics of the collection are over all segments, without
deleted texts, so scores equal those of one segment.

Costs: about 8 bytes per distinct term of a passage, twice, as articles are counted, too. A query reads only the
postings of its terms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache, partial, reduce
from itertools import repeat
from typing import Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from auscult.documents import Passage
from auscult.documents.analysis import Analyzer
from auscult.documents.known_headings import known_heading
from auscult.documents.language_names import ENGLISH, READ_BESIDE_ENGLISH
from auscult.documents.stop_words import known_language
from auscult.encoders.contract import FloatArray
from auscult.index.articles import article_sizes, headings_of
from auscult.index.blocks import BlockFile, BlockWriter, SortedStrings, add_strings

Field = Literal["text", "heading", "above", "title", "names", "article"]
FIELDS: Final[tuple[Field, ...]] = ("text", "heading", "above", "title", "names", "article")
"""Fields of a passage: text, heading, above (the headings above its own). Of a document: title, names
(`titles.further_names`, without words of the title). An article (`index.articles`) has title, names, and the headings
and text of its passages."""
OF_PASSAGES: Final = ("text", "heading", "above")
_MOST: Final = np.iinfo(np.uint16).max
K1: Final = 1.2
"""Saturation of BM25, at its usual value: a frequent word counts up to 2.2 times as much as one that occurs once."""
_B: Final[Mapping[Field, float]] = {"text": 0.75, "article": 0.75}
#: Headings, titles and names are short, so their length says little.
_B_SHORT: Final = 0.3
#: Number of terms whose positions and weights are cached.
_KEPT: Final = 4096

analyse = Analyzer(stop_words=True, stemming=True, normal_form=True)
"""Convert English text to terms, for the index and for queries."""

ANALYSIS: Final = 2
"""Version of how words and names are normalised. Raise it with every change; other segments are then rebuilt."""

IntArray = npt.NDArray[np.int64]


@cache
def analyser_for(language: str) -> Analyzer:
    """Return the function that converts text of a language to terms: `analyse` for English and unknown languages."""
    return analyse if known_language(language) == "en" else replace(analyse, language=language)


def terms_by_language(text: str, languages: Iterable[str]) -> list[list[str]]:
    """Return the terms of a question by each of some languages, for `Words.coverage` and `Words.likeness`.

    A passage has terms of its own language. So a question about passages in several languages is read by its own and
    by theirs; the best reading counts for each passage.

    Args:
        text: The question.
        languages: Codes of its language and of the passages' languages.

    Returns:
        Distinct readings with at least one term; [[]] if there is none.
    """
    readings = dict.fromkeys(tuple(analyser_for(language)(text)) for language in languages)
    return [[*terms] for terms in readings if terms] or [[]]


class Postings(NamedTuple):
    """The postings of a field: one row for each pair of term and text, in order.

    Attributes:
        held: Number of the term.
        rows: Number of the text.
        counts: How often the term occurs in the text.
        lengths: Number of terms of each text, (texts,).
    """

    held: npt.NDArray[np.integer]
    rows: npt.NDArray[np.integer]
    counts: npt.NDArray[np.integer]
    lengths: npt.NDArray[np.integer]


@dataclass(frozen=True, slots=True)
class Counted:
    """The counted words of some documents.

    Attributes:
        terms: The terms, sorted.
        fields: Postings by field.
        article_sizes: Number of passages of each article.
    """

    terms: list[str]
    fields: Mapping[Field, Postings]
    article_sizes: IntArray


class WordCounter:
    """Counts the words of documents. Memory: 4 bytes per word."""

    def __init__(self) -> None:
        self._terms: dict[str, int] = {}
        self._words: dict[Field, list[npt.NDArray[np.int32]]] = {field: [] for field in FIELDS}
        self._article_sizes: list[int] = []

    def add(
        self,
        title: str,
        names: str,
        passages: Sequence[tuple[Passage, str]],
        *,
        language: str = "en",
        languages: Sequence[str] = (),
    ) -> None:
        """Count a document.

        Args:
            title: Its title.
            names: Its further names.
            passages: Its passages with their texts, in order.
            language: Code of the document's language, whose terms are counted.
            languages: Codes of the passages' own languages, if they are known.
        """
        numbers = lru_cache(maxsize=None)(partial(self._numbers, language=language))
        words = self._words
        own = languages or repeat(language, len(passages))
        texts = [self._numbers(text, code) for (_, text), code in zip(passages, own, strict=True)]
        words["text"] += texts
        words["heading"] += [self._with_aspect(passage.heading, language, numbers) for passage, _ in passages]
        # One array at least, also for a passage without headings above.
        none = np.zeros(0, np.int32)
        words["above"] += [np.concatenate([none, *map(numbers, passage.above)]) for passage, _ in passages]
        words["title"].append(numbers(title))
        named = np.unique(self._numbers(names, language))
        words["names"].append(named[~np.isin(named, numbers(title))])
        paths = [(*passage.above, passage.heading) if passage.heading else passage.above for passage, _ in passages]
        sizes = article_sizes(paths, [*map(len, texts)])
        self._article_sizes += sizes
        first = 0
        for size in sizes:
            last = first + size
            headings = headings_of(paths[first:last])
            parts = (words["title"][-1], words["names"][-1], *map(numbers, headings), *texts[first:last])
            words["article"].append(np.concatenate(parts))
            first = last

    def count(self) -> Counted:
        """Return the counts. Can be called only once."""
        terms = sorted(self._terms)
        order = np.empty(len(terms), np.int64)
        order[[self._terms[term] for term in terms]] = np.arange(len(terms))
        # `pop` frees the words of a field when they are counted.
        fields = {field: _postings(self._words.pop(field), order) for field in FIELDS}
        return Counted(terms, fields, np.array(self._article_sizes, np.int64))

    def _with_aspect(
        self, heading: str, language: str, numbers: Callable[[str], npt.NDArray[np.int32]]
    ) -> npt.NDArray[np.int32]:
        """Return the words of a heading; of a usual one in another language also the English name of its aspect."""
        known = known_heading(heading, language) if language in READ_BESIDE_ENGLISH and heading else None
        if known is None or not known.aspect:
            return numbers(heading)
        return np.concatenate([numbers(heading), self._numbers(known.aspect, ENGLISH)])

    def _numbers(self, text: str, language: str) -> npt.NDArray[np.int32]:
        terms = self._terms
        return np.array([terms.setdefault(term, len(terms)) for term in analyser_for(language)(text)], np.int32)


def _postings(words: Sequence[npt.NDArray[np.int32]], order: IntArray) -> Postings:
    lengths = np.array([len(each) for each in words], np.int64)
    texts = max(len(words), 1)
    # In place, as these are the largest arrays of a build: 8 bytes per word.
    pairs = order[np.concatenate(words)] if words else np.zeros(0, np.int64)
    pairs *= texts
    pairs += np.repeat(np.arange(len(words), dtype=np.int32), lengths)
    pairs.sort()
    others = np.ones(len(pairs), bool)
    np.not_equal(pairs[1:], pairs[:-1], out=others[1:])
    firsts = np.flatnonzero(others)
    counts = np.diff(firsts, append=len(pairs)).astype(np.int32)
    pairs = pairs[firsts]
    return Postings((pairs // texts).astype(np.int32), (pairs % texts).astype(np.int32), counts, lengths)


def merge_counts(parts: Sequence[Counted]) -> Counted:
    """Merge the words of several sets of documents."""
    if len(parts) == 1:
        return parts[0]
    terms = sorted({term for part in parts for term in part.terms})
    numbers = {term: number for number, term in enumerate(terms)}
    renamed = [np.array([numbers[term] for term in part.terms], np.int64) for part in parts]
    fields: dict[Field, Postings] = {}
    for field in FIELDS:
        term_numbers, rows, counts, lengths = zip(*(part.fields[field] for part in parts), strict=True)
        begins = np.cumsum([0, *map(len, lengths)])
        all_terms = np.concatenate([name[term_rows] for name, term_rows in zip(renamed, term_numbers, strict=True)])
        all_rows = np.concatenate([text_rows + begin for text_rows, begin in zip(rows, begins, strict=False)])
        order = np.lexsort((all_rows, all_terms))
        fields[field] = Postings(
            all_terms[order], all_rows[order], np.concatenate(counts)[order], np.concatenate(lengths)
        )
    return Counted(terms, fields, np.concatenate([part.article_sizes for part in parts]))


def write_words(writer: BlockWriter, counted: Counted) -> None:
    """Write words to a segment."""
    for field, (term_numbers, rows, counts, lengths) in counted.fields.items():
        writer.add(f"{field}/starts", np.searchsorted(term_numbers, np.arange(len(counted.terms) + 1)), "<i8")
        writer.add(f"{field}/rows", rows, "<i4")
        writer.add(f"{field}/counts", np.minimum(counts, _MOST), "<u2")
        writer.add(f"{field}/lengths", lengths, "<i4")
    writer.add("article/sizes", counted.article_sizes, "<i4")
    add_strings(writer, "terms", counted.terms)


@dataclass(frozen=True, slots=True)
class WordSegment:
    """The words of a segment.

    Attributes:
        file: File of the segment.
        documents: Which of its documents were not deleted, (documents,); None for all.
        passages: Which of its passages were not deleted, (passages,); None for all.
    """

    file: BlockFile
    documents: npt.NDArray[np.bool_] | None
    passages: npt.NDArray[np.bool_] | None

    def living(self, field: Field) -> npt.NDArray[np.bool_] | None:
        """Return which texts of a field were not deleted; None for all."""
        if field == "article" and self.passages is not None:
            sizes = self.file.array("article/sizes")
            articles: npt.NDArray[np.bool_] = self.passages[np.cumsum(sizes) - sizes]
            return articles
        return self.passages if field in OF_PASSAGES else self.documents

    def read_counts(self) -> Counted:
        """Return the words of texts that were not deleted."""
        names = SortedStrings(self.file, "terms").all()
        fields: dict[Field, Postings] = {}
        used = np.zeros(len(names), bool)
        for field in FIELDS:
            starts, lengths = self.file.array(f"{field}/starts"), self.file.array(f"{field}/lengths")
            term_numbers = np.repeat(np.arange(len(names)), np.diff(starts))
            rows, counts = self.file.array(f"{field}/rows"), self.file.array(f"{field}/counts")
            living = self.living(field)
            if living is not None:
                stays = living[rows]
                term_numbers, counts = term_numbers[stays], counts[stays]
                rows, lengths = (np.cumsum(living) - 1)[rows[stays]], lengths[living]
            used[term_numbers] = True
            fields[field] = Postings(term_numbers, *(array.astype(np.int64) for array in (rows, counts, lengths)))
        order = np.cumsum(used) - 1
        terms = [name for name, stays in zip(names, used.tolist(), strict=True) if stays]
        sizes, living = self.file.array("article/sizes"), self.living("article")
        return Counted(
            terms,
            {field: postings._replace(held=order[postings.held]) for field, postings in fields.items()},
            (sizes if living is None else sizes[living]).astype(np.int64),
        )


class _Term(NamedTuple):
    """A term of a query: its idf, and for each segment with the term the range of its postings by field."""

    idf: float
    places: Sequence[tuple[int, Mapping[Field, tuple[int, int]]]]


class Words:
    """The words of a generation.

    Args:
        segments: The segments, in the order of their documents.
    """

    def __init__(self, segments: Sequence[WordSegment]) -> None:
        self._segments = segments
        self._terms = [SortedStrings(each.file, "terms") for each in segments]
        self._norms: dict[Field, list[FloatArray]] = {}
        self._weights: dict[Field, list[FloatArray]] = {}
        self._articles = sum(_living_count(each, "article") for each in segments)
        self._term = lru_cache(maxsize=_KEPT)(self._find_term)

    @cached_property
    def articles(self) -> npt.NDArray[np.int32]:
        """Number of each passage's article, (passages,), including deleted ones."""
        sizes = np.concatenate([np.zeros(0, np.int32), *(each.file.array("article/sizes") for each in self._segments)])
        return np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)

    def coverage(self, names: Sequence[Sequence[str]], field: Field, k1: float = K1) -> FloatArray:
        """Return how much of a query's words each text of a field has, shape (texts,), in [0, 1).

        Args:
            names: Terms of the query, from `analyse` or `terms_by_language`; repeats count once. Of several names, the
                best counts.
            field: One of `FIELDS`.
            k1: Weight of the number of occurrences; near 0, only the first occurrence counts.
        """
        norms = self._field_norms(field)
        # By term, BM25's saturated counts, below 1. The postings of a word in several names are read once.
        saturated: dict[str, list[tuple[int, npt.NDArray[np.int32], FloatArray]]] = {}
        coverages = []
        for terms in dict.fromkeys(tuple(dict.fromkeys(name)) for name in names):
            scores = [np.zeros(len(each), np.float32) for each in norms]
            total = sum(self._term(term).idf for term in terms)
            for term in terms:
                if term not in saturated:
                    saturated[term] = []
                    for number, rows, counts in self._postings(self._term(term), field):
                        share = np.divide(counts, counts + np.float32(k1) * norms[number][rows], dtype=np.float32)
                        saturated[term].append((number, rows, share))
                weight = np.float32(self._term(term).idf / total)
                for number, rows, share in saturated[term]:
                    scores[number][rows] += weight * share
            coverages.append(_concatenate(scores))
        return reduce(np.maximum, coverages)

    def likeness(self, names: Sequence[Sequence[str]], field: Field) -> FloatArray:
        """Return the similarity of a name to each short text of a field, shape (texts,), in [0, 1].

        It is the idf of the common words, divided by that of all words of both (a weighted Jaccard index). Of several
        names, the most similar counts.
        """
        likenesses = []
        for distinct in dict.fromkeys(tuple(dict.fromkeys(name)) for name in names):
            terms = [self._term(term) for term in distinct]
            common = [np.zeros(segment.file.length(f"{field}/lengths"), np.float32) for segment in self._segments]
            total = np.float32(sum(term.idf for term in terms))
            for term in terms:
                for number, rows, _ in self._postings(term, field):
                    common[number][rows] += np.float32(term.idf)
            # Divide only for texts with a word of the name, as most have none.
            alike = [np.zeros_like(scores) for scores in common]
            for term in terms:
                for number, rows, _ in self._postings(term, field):
                    shared = common[number][rows]
                    alike[number][rows] = shared / (total + self._weight(field)[number][rows] - shared)
            likenesses.append(_concatenate(alike))
        return reduce(np.maximum, likenesses)

    def shares(self, terms: Sequence[str]) -> dict[str, float]:
        """Return the share of each word of a query by idf; the shares sum to 1."""
        weights = {term: self._term(term).idf for term in terms}
        total = sum(weights.values())
        return {term: weight / total for term, weight in weights.items()}

    def holds(self, term: str) -> bool:
        """Return whether any text has a term."""
        for field in FIELDS:
            for number, rows, _ in self._postings(self._term(term), field):
                living = self._segments[number].living(field)
                if len(rows) and (living is None or living[rows].any()):
                    return True
        return False

    def occurs(self, word: str, language: str = "en") -> bool:
        """Return whether texts have a word of a language in any of its forms; False for one without a term."""
        terms = analyser_for(language)(word)
        return bool(terms) and all(map(self.holds, terms))

    def _postings(self, term: _Term, field: Field) -> Iterator[tuple[int, npt.NDArray[np.int32], FloatArray]]:
        """Yield for each segment its number, its texts of a field with a term, and the counts of the term."""
        for number, spans in term.places:
            file, (first, last) = self._segments[number].file, spans[field]
            rows = file.array(f"{field}/rows", first, last)
            yield number, rows, file.array(f"{field}/counts", first, last).astype(np.float32)

    def _find_term(self, term: str) -> _Term:
        places = []
        holders = 0
        for number, (segment, terms) in enumerate(zip(self._segments, self._terms, strict=True)):
            place = terms.find(term)
            if place is None:
                continue
            spans: dict[Field, tuple[int, int]] = {}
            for field in FIELDS:
                first, last = segment.file.array(f"{field}/starts", place, place + 2).tolist()
                spans[field] = first, last
            places.append((number, spans))
            rows, living = segment.file.array("article/rows", *spans["article"]), segment.living("article")
            holders += len(rows) if living is None else int(np.count_nonzero(living[rows]))
        # An unknown term has the weight of the rarest.
        return _Term(float(_idf(np.array(holders), self._articles)), places)

    def _weight(self, field: Field) -> list[FloatArray]:
        """Return the idf of all distinct words of each text of a field, by segment."""
        if field not in self._weights:
            weights = []
            for segment, idf in zip(self._segments, self._all_idf, strict=True):
                file = segment.file
                weight_of_posting = idf[np.repeat(np.arange(len(idf)), np.diff(file.array(f"{field}/starts")))]
                texts = file.length(f"{field}/lengths")
                weights.append(np.bincount(file.array(f"{field}/rows"), weight_of_posting, texts).astype(np.float32))
            self._weights[field] = weights
        return self._weights[field]

    @cached_property
    def _all_idf(self) -> list[npt.NDArray[np.float64]]:
        """Return the idf of each term, by segment."""
        if len(self._segments) == 1:
            return [_idf(_holders(self._segments[0]), self._articles)]
        numbers: dict[str, int] = {}
        places = [
            np.array([numbers.setdefault(term, len(numbers)) for term in terms.all()], np.int64)
            for terms in self._terms
        ]
        holders = np.zeros(len(numbers), np.int64)
        for segment, place in zip(self._segments, places, strict=True):
            holders[place] += _holders(segment)
        idf = _idf(holders, self._articles)
        return [idf[place] for place in places]

    def _field_norms(self, field: Field) -> list[FloatArray]:
        """Return BM25's length normalisation of each text of a field, by segment."""
        if field not in self._norms:
            lengths = [segment.file.array(f"{field}/lengths") for segment in self._segments]
            texts = sum(_living_count(segment, field) for segment in self._segments)
            living = (segment.living(field) for segment in self._segments)
            words = sum(
                int((counts if mask is None else counts[mask]).sum(dtype=np.int64))
                for counts, mask in zip(lengths, living, strict=True)
            )
            mean = max(words / texts, 1.0) if texts else 1.0
            b = _B.get(field, _B_SHORT)
            self._norms[field] = [(1 - b + b * counts / mean).astype(np.float32) for counts in lengths]
        return self._norms[field]


def _living_count(segment: WordSegment, field: Field) -> int:
    living = segment.living(field)
    return segment.file.length(f"{field}/lengths") if living is None else int(np.count_nonzero(living))


def _holders(segment: WordSegment) -> IntArray:
    """Count for each term the articles with it that were not deleted."""
    starts, living = segment.file.array("article/starts"), segment.living("article")
    if living is None:
        whole: IntArray = np.diff(starts)
        return whole
    before: IntArray = np.cumsum(np.r_[0, living[segment.file.array("article/rows")]])
    left: IntArray = np.diff(before[starts])
    return left


def _concatenate(parts: Sequence[FloatArray]) -> FloatArray:
    return parts[0] if len(parts) == 1 else np.concatenate([np.zeros(0, np.float32), *parts])


def _idf(holders: npt.NDArray[np.integer], size: int) -> npt.NDArray[np.float64]:
    """Return Lucene's idf, which is never negative. A term in no article counts like one in a single article."""
    at_least_one = np.maximum(holders, 1)
    idf: npt.NDArray[np.float64] = np.log1p((np.maximum(size, 1) - at_least_one + 0.5) / (at_least_one + 0.5))
    return idf
