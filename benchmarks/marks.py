"""Quality of the sentences that a hit marks as answers.

    AUSCULT_DATA=... python benchmarks/marks.py [--model MODEL ...] [--data NAME ...]

Each question searches the document that answers it, and the marks of its hit are compared with the answer:

    touched      share of answers that a mark overlaps
    belonging    share of marked characters that belong to the answer
    characters   marked in a hit
    marks        sentences marked in a hit

| data      | a passage is                      | its answer                               | used for choosing |
|-----------|-----------------------------------|------------------------------------------|-------------------|
| cpgqa     | a paragraph of a guideline        | characters, mostly a clause              | half of it        |
| abstracts | the snippets of a PubMed abstract | the question's snippets (bioasq-7b-11b)  | yes               |
| sections  | a page without its headings       | a section of it (nhs)                    | yes               |
| covidqa   | a paragraph of an article         | characters                               | no                |

Abstracts are joined from all snippets of all questions. Those with three sentences or more are used, for questions
whose snippets are at most seven tenths of the text. Answers of cpgQA are parts of often long sentences; a mark is a
whole sentence, so only a small part of it can belong to the answer.

| way              | what is marked                                                                  |
|------------------|---------------------------------------------------------------------------------|
| marks            | `search.marks`                                                                  |
| two best         | the two with the highest `SentenceScore.score`, as the API did before            |
| two shown        | the same of the excerpt that is shown, as the terminal did before                |
| one or two shown | of these the second where it has eight tenths of the best, as the page did before |
| first            | the first sentence                                                              |
| words            | the best by BM25 with the question's words                                       |
| MiniLM           | the best by cosine of all-MiniLM-L6-v2                                           |
| all              | the passage                                                                     |

95 % intervals by bootstrap over documents. `first_hits` has the same figures for questions whose passage is the first
hit. `milliseconds` is the time that marking adds to ten hits, whose sentences' words are known from the scores.

Writes benchmarks/results/marks.json, one record per model and data. Ten minutes on one core.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from sentence_transformers import SentenceTransformer

from auscult.catalogue import locate
from auscult.documents import Document, Section, build_document
from auscult.documents.analysis import Analyzer
from auscult.encoders import load_model
from auscult.encoders.contract import DocumentEncoder, FloatArray
from auscult.files.records import read_records
from auscult.files.writing import write_json
from auscult.ingest.building import build_index
from auscult.provenance import stamp
from auscult.search import Searcher, SearchOptions
from auscult.search.answering import Answering
from auscult.search.evidence import question_terms
from auscult.search.hits import Hit
from auscult.search.marks import EXCERPT, mark_sentences
from auscult.understanding import Query
from auscult_lab.corpora.covidqa import ARTICLES, QUESTIONS, CovidQaCorpus
from auscult_lab.corpora.cpgqa import CpgQaCorpus
from auscult_lab.corpora.opening import open_corpus
from auscult_lab.scorers.lexical import Bm25Config, Bm25Index
from spans import hidden, sections_of
from unseen_documents import find_encoder

RESULT = Path(__file__).resolve().parent / "results" / "marks.json"
KIND = "marks"
SNIPPETS = "bioasq-7b-11b"
SECOND: Final = 0.8
MOST_PASSAGES: Final = 1_000
SEED, RESAMPLES = 0, 2_000
MEASURES = ("touched", "belonging", "characters", "marks")
Ranges = list[tuple[int, int]]
Way = Callable[[Query, Hit], list[int]]
Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Asked:
    """A question, the passage that answers it, and the ranges of the answer in the document's text."""

    query: Query
    doc_id: str
    passage_id: str
    answers: Ranges


def of_cpgqa(split: str) -> tuple[list[Document], list[Asked]]:
    """Return the paragraphs of a guideline, and the questions of a split."""
    corpus = CpgQaCorpus(locate("cpgqa"))
    documents = list(corpus.documents())
    starts = {each.passage_id: (document.doc_id, each.start) for document in documents for each in document.passages}
    questions = {each.query_id: each.text for each in corpus.queries(split)}
    questions_asked = []
    for query_id, places in corpus.answers(split).items():
        answers: dict[str, Ranges] = defaultdict(list)
        for place in places:
            begin = starts[place.passage_id][1]
            answers[place.passage_id].append((begin + place.begin, begin + place.end))
        for passage_id, ranges in answers.items():
            questions_asked.append(
                Asked(in_words(query_id, questions[query_id]), starts[passage_id][0], passage_id, ranges)
            )
    return documents, questions_asked


def of_covidqa() -> tuple[list[Document], list[Asked]]:
    """Return articles, and all questions."""
    folder = locate("covidqa")
    corpus = CovidQaCorpus(folder / ARTICLES, folder / QUESTIONS)
    documents = {each.doc_id: each for each in corpus.documents()}
    questions = {each.query_id: each.text for each in corpus.queries("test")}
    questions_asked = []
    for query_id, (doc_id, answers) in corpus.answers("test").items():
        for passage in documents[doc_id].passages:
            inside = [(begin, end) for begin, end in answers if begin < passage.end and passage.start < end]
            if inside:
                questions_asked.append(
                    Asked(in_words(query_id, questions[query_id]), doc_id, passage.passage_id, inside)
                )
    return list(documents.values()), questions_asked


def of_abstracts() -> tuple[list[Document], list[Asked]]:
    """Return abstracts, joined from snippets, and the questions that some of their snippets answer."""
    snippets: dict[str, list[tuple[int, str, Query]]] = defaultdict(list)
    for record in read_records(locate(SNIPPETS)):
        query = in_words(record.text("question_id"), record.text("question").strip())
        for snippet in record.records("snippets"):
            if snippet.text("section") == "abstract":
                snippets[snippet.text("pmid")].append((int(snippet.fields["begin"]), snippet.text("text"), query))
    documents, questions = [], []
    for doc_id, snippets_of in snippets.items():
        letters: dict[int, str] = {}
        if any(
            letters.setdefault(begin + place, letter) != letter
            for begin, text, _ in snippets_of
            for place, letter in enumerate(text)
        ):
            # Snippets of the abstract have contradicting offsets.
            continue
        places: dict[int, int] = {}
        text = ""
        for offset in sorted(letters):
            gap = " " if text and offset - 1 not in letters and not text[-1].isspace() else ""
            places[offset] = len(text) + len(gap)
            text += gap + letters[offset]
        document = build_document(doc_id=doc_id, title="", sections=[Section("", text)])
        (passage,) = document.passages
        first = document.text.index(text)
        answers: dict[Query, Ranges] = defaultdict(list)
        for begin, snippet_text, query in snippets_of:
            end = places[begin + len(snippet_text) - 1] + 1
            answers[query].append((first + places[begin], first + end))
        chosen = [
            Asked(query, doc_id, passage.passage_id, ranges)
            for query, ranges in answers.items()
            if len(characters(ranges)) <= 0.7 * len(text) and len(passage.sentences) > 2
        ]
        documents += [document] if chosen else []
        questions += chosen
    return documents, questions


def of_sections() -> tuple[list[Document], list[Asked]]:
    """Return pages of several sections without their headings, and an entity with an aspect for each section."""
    corpus, split = open_corpus("nhs"), "test"
    documents = {document.doc_id: document for document in corpus.documents(split) if len(sections_of(document)) > 1}
    places = {
        part.passage_id: (doc_id, (part.start, part.end))
        for doc_id, document in documents.items()
        for part in document.passages
        if part.sentences
    }
    answers: dict[tuple[str, str], Ranges] = defaultdict(list)
    for judgement in corpus.judgements(split):
        if judgement.relevance > 0 and judgement.passage_id in places:
            doc_id, place = places[judgement.passage_id]
            answers[judgement.query_id, doc_id].append(place)
    queries = {query.query_id: Query(query.query_id, query.entity, query.aspects) for query in corpus.queries(split)}
    questions = [
        Asked(queries[query_id], doc_id, f"{doc_id}/all", ranges) for (query_id, doc_id), ranges in answers.items()
    ]
    return [*map(hidden, documents.values())], questions


def in_words(query_id: str, question: str) -> Query:
    """Return a query of a question in words only."""
    return Query(query_id, "", text=question)


DATA: Mapping[str, Callable[[], tuple[list[Document], list[Asked]]]] = {
    "cpgqa, chosen by": lambda: of_cpgqa("train"),
    "abstracts, chosen by": of_abstracts,
    "sections, chosen by": of_sections,
    "cpgqa": lambda: of_cpgqa("test"),
    "covidqa": of_covidqa,
}


def characters(ranges: Sequence[tuple[int, int]]) -> set[int]:
    """Return all offsets in some ranges."""
    return {offset for begin, end in ranges for offset in range(begin, end)}


def ways_of(searcher: Searcher, documents: Sequence[Document], hits: Sequence[tuple[Query, Hit]]) -> dict[str, Way]:
    """Return the function of each way that marks sentences."""
    analyzer, config = Analyzer(), Bm25Config()
    texts = list(dict.fromkeys(document.slice(sentence) for document in documents for sentence in document.sentences))
    numbers = {text: number for number, text in enumerate(texts)}
    lexical = Bm25Index([analyzer(text) for text in texts], config.k1, config.b)
    encoder = SentenceTransformer(str(find_encoder(None)), device="cpu")
    read = dict.fromkeys(
        [*(words(query) for query, _ in hits), *(sentence.text for _, hit in hits for sentence in hit.sentences)]
    )
    vectors: FloatArray = encoder.encode([*read], normalize_embeddings=True, batch_size=64)
    rows = {text: number for number, text in enumerate(read)}

    def by_words(query: Query, hit: Hit) -> list[int]:
        scores = lexical.score_all(analyzer(words(query)))
        return best([float(scores[numbers[sentence.text]]) for sentence in hit.sentences], 1)

    def by_cosine(query: Query, hit: Hit) -> list[int]:
        sentences = vectors[[rows[sentence.text] for sentence in hit.sentences]]
        return best((sentences @ vectors[rows[words(query)]]).tolist(), 1)

    return {
        "marks": lambda _, hit: [number for number, sentence in enumerate(hit.sentences) if sentence.marked],
        "two best": lambda _, hit: best([sentence.score for sentence in hit.sentences], 2),
        "two shown": lambda _, hit: two_shown(hit),
        "one or two shown": lambda _, hit: one_or_two_shown(hit),
        "first": lambda _, hit: [0],
        "words": by_words,
        "MiniLM": by_cosine,
        "all": lambda _, hit: [*range(len(hit.sentences))],
    }


def words(query: Query) -> str:
    """Return a query in words."""
    return query.text or query.terms


def best(scores: Sequence[float], count: int) -> list[int]:
    """Return the places of the highest scores, best first."""
    return sorted(range(len(scores)), key=lambda number: -scores[number])[:count]


def two_shown(hit: Hit) -> list[int]:
    """Return the two best sentences of the excerpt around the best one, as earlier versions showed."""
    scores = [each.score for each in hit.sentences]
    first = best(scores, 1)[0]
    last, length = first + 1, len(hit.sentences[first].text)
    while length < EXCERPT and last - first < len(scores):
        if last == len(scores) or (first > 0 and scores[first - 1] > scores[last]):
            first -= 1
            length += len(hit.sentences[first].text)
        else:
            length += len(hit.sentences[last].text)
            last += 1
    return [first + number for number in best(scores[first:last], 2)]


def one_or_two_shown(hit: Hit) -> list[int]:
    """Return the best sentence of the excerpt, and the second where its score is nearly as high."""
    first, *others = two_shown(hit)
    scores = [each.score for each in hit.sentences]
    return [first, *(each for each in others if scores[each] >= SECOND * scores[first] > 0)]


def counted(asked: Asked, hit: Hit, marked: Sequence[int]) -> tuple[float, ...]:
    """Return whether a mark overlaps the answer, marked characters of the answer, all marked ones, and marks."""
    answer = characters(asked.answers)
    chosen = characters([(hit.sentences[number].start, hit.sentences[number].end) for number in marked])
    return float(bool(answer & chosen)), float(len(answer & chosen)), float(len(chosen)), float(len(marked))


def measures(sums: Values, questions: Values) -> Values:
    """Return measures, (..., 4), from sums of counts, (..., 4), and numbers of questions, (...,)."""
    touched, belonging, marked, marks = np.moveaxis(sums, -1, 0)
    return np.stack([touched / questions, belonging / np.maximum(marked, 1), marked / questions, marks / questions], -1)


def way_rows(values: Mapping[str, Values], owners: Sequence[str]) -> list[dict[str, Any]]:
    """Return the measures of each way with intervals, and the marks' differences from each."""
    names = sorted(set(owners))
    places = {name: number for number, name in enumerate(names)}
    rows = np.array([places[each] for each in owners])
    drawn = np.random.default_rng(SEED).multinomial(len(names), np.full(len(names), 1 / len(names)), RESAMPLES)
    questions = drawn @ np.bincount(rows, minlength=len(names))

    def resampled(counts: Values) -> Values:
        sums = np.stack([np.bincount(rows, column, len(names)) for column in counts.T], axis=1)
        return measures(drawn @ sums, questions)

    ours, rows_of = resampled(values["marks"]), []
    means = {way: measures(counts.sum(axis=0), np.array(len(counts))) for way, counts in values.items()}
    for way, counts in values.items():
        theirs = resampled(counts)
        row: dict[str, Any] = {"way": way}
        for number, measure in enumerate(MEASURES):
            row[measure] = float(means[way][number])
            if number < 2:
                row |= _interval(theirs[:, number], measure)
                if way != "marks":
                    row[f"{measure}_more"] = float(means["marks"][number] - means[way][number])
                    row |= _interval(ours[:, number] - theirs[:, number], f"{measure}_more")
        rows_of.append(row)
    return rows_of


def _interval(drawn: Values, name: str) -> dict[str, float]:
    low, high = np.quantile(drawn, (0.025, 0.975)).tolist()
    return {f"{name}_low": low, f"{name}_high": high}


def hits_of(searcher: Searcher, questions: Sequence[Asked]) -> Iterator[tuple[Asked, Query, Hit, bool]]:
    """Yield for each question the understood query, the hit of its passage, and whether this is the first of all."""
    for question in questions:
        query = searcher.understand(question.query).query if question.query.text else question.query
        found = searcher.find(query, MOST_PASSAGES, SearchOptions(documents=(question.doc_id,)))
        ids = [searcher.index.reader.passage_id(row) for row in found.rows]
        hit = found.hit(ids.index(question.passage_id))
        first = searcher.find(query, 1)
        yield question, query, hit, searcher.index.reader.passage_id(first.rows[0]) == question.passage_id


def milliseconds(searcher: Searcher, queries: Sequence[Query], most: int = 100) -> float:
    """Return the median milliseconds that marking adds to ten hits."""
    reader, taken = searcher.index.reader, []
    for query in queries[:most]:
        findings, vector = searcher.find(query, 10), searcher.vectors([query])[0]
        shares = reader.words.shares(question_terms(query))
        read = [reader.stored(findings.rows[hit.rank - 1]) for hit in findings]
        begun = time.perf_counter()
        answering = Answering(query, vector, searcher.index.manifest.model.parts, shares)
        for each in read:
            mark_sentences(each.passage, each.text, answering.log_odds(each.passage, each.text, each.vectors))
        taken.append(1000 * (time.perf_counter() - begun))
    return float(np.median(taken))


def measured(encoder: DocumentEncoder, name: str) -> dict[str, Any]:
    """Return a model's record of some data, without provenance."""
    documents, questions = DATA[name]()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "index"
        build_index(documents, encoder, place)
        searcher = Searcher.open(place, encoder)
        hits = [*hits_of(searcher, questions)]
        taken = milliseconds(searcher, [query for _, query, _, _ in hits])
    ways = ways_of(searcher, documents, [(query, hit) for _, query, hit, _ in hits])
    values = {
        way: np.array([counted(each, hit, marked(query, hit)) for each, query, hit, _ in hits])
        for way, marked in ways.items()
    }
    owners = [each.doc_id for each, *_ in hits]
    first = np.array([right for *_, right in hits])
    right = {way: counts[first] for way, counts in values.items()}
    return {
        "data": name,
        "documents": len(documents),
        "questions": len(hits),
        "sentences_of_a_passage": float(np.mean([len(hit.sentences) for _, _, hit, _ in hits])),
        "ways": way_rows(values, owners),
        "first_hits_right": float(first.mean()),
        "first_hits": way_rows(right, [owner for owner, is_first in zip(owners, first, strict=True) if is_first]),
        "milliseconds": taken,
    }


def main() -> None:
    """Measure models, and write the records."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--model", nargs="+", default=["fast"], help="what hits are found with")
    options.add_argument("--data", nargs="+", choices=DATA, default=[*DATA], help="by default all")
    options.add_argument("--out", type=Path, default=RESULT)
    chosen = options.parse_args()
    records = []
    for model in chosen.model:
        encoder = load_model(model)
        for name in chosen.data:
            records.append({"kind": KIND, "title": f"{encoder.name}, {name}", "model": encoder.name})
            records[-1] |= {**measured(encoder, name), **stamp()}
            print(json.dumps(records[-1], indent=1), file=sys.stderr, flush=True)
    write_json(chosen.out, records)


if __name__ == "__main__":
    main()
