"""How fast does an index of many sentences answer, how much does it take, and how does a peer compare?

    AUSCULT_DATA=... python benchmarks/serving.py [--sentences N ...] [--work FOLDER] [--folder] [--peer]

MedQuAD's documents, read by `fast`. More than it has are made of it: copies with other ids, another word in each title,
the letters of one word of each passage in another order, and vectors moved by noise (0.02 a component), so that neither
texts nor vectors repeat. Vectors of copies are not computed again: times of building are of everything but the encoder.

Of each size, in a process of its own, after twenty questions to warm up: the time to open without a model, questions in
words ("What are the symptoms of gout?") to ten hits with marked sentences and all evidence, and structured queries, by
the clock and by the processor's time; the most memory; from the command line, cold; and adding one document until it is
found. Then vectors alone, all of which are read; and of four kinds of questions, the share of the hits that score as
much as the first ten of weighing the evidence of every passage (`Searcher.gather`). Bytes are those on the disk.

--keep: an index that is in the folder of --work is measured as it is, with what was noted of its building.

--folder: a folder of all documents as files of text, nothing of which has changed, is given to `auscult add` again.

--peer, of 100,000 sentences: LanceDB (of `auscult[dev]`), the same passages, their question part and full-text search,
hybrid by its reciprocal ranks, the best passage a document.

Writes benchmarks/results/serving.json, into which what was measured before is merged.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from auscult.concepts.opening import open_for_questions
from auscult.documents import Document, Section, build_document
from auscult.encoders import load_model
from auscult.files.writing import write_json
from auscult.index import PassageIndex
from auscult.interfaces import FloatArray
from auscult.provenance import stamp
from auscult.search import Searcher, build_index
from auscult.search.build import update_index
from auscult.understanding import Query
from auscult.understanding.aspect_words import question_about
from auscult_lab.corpora.opening import open_corpus

RESULT = Path(__file__).resolve().parent / "results" / "serving.json"
MODEL, CORPUS = "fast", "medquad"
HITS, QUESTIONS, WARM = 10, 200, 20
OF_PEER = 100_000
"""Sentences of the index that is compared with a peer."""
REPEATS = 5
OF_KIND, ROUNDING = 50, 1e-4
"""How many questions of each kind are answered by weighing all passages, too; scores that differ less are equal."""
NOISE = 0.02
_WORD = re.compile(r"[a-z]{6,}")


class Kept:
    """The model, but for documents that it has read: their vectors come from an index; those of copies are moved."""

    def __init__(self, index: PassageIndex, seed: int = 0) -> None:
        self.encoder: Any = load_model(MODEL)
        self.name, self.dim, self.parts = self.encoder.name, self.encoder.dim, self.encoder.parts
        self.fingerprint, self.fusion = self.encoder.fingerprint, self.encoder.fusion
        self._reader = index.reader
        self._chance = np.random.default_rng(seed)

    def encode_queries(self, queries: Sequence[Query]) -> FloatArray:
        """The model's."""
        found: FloatArray = self.encoder.encode_queries(queries)
        return found

    def encode_documents(self, documents: Sequence[Document]) -> list[FloatArray]:
        """Sentences'."""
        return [sentences for sentences, _ in self.encode_passages(documents)]

    def encode_passages(self, documents: Sequence[Document]) -> list[tuple[FloatArray, FloatArray]]:
        """Sentences' and passages'."""
        return [self._of(document) for document in documents]

    def _of(self, document: Document) -> tuple[FloatArray, FloatArray]:
        original, copied, _ = document.doc_id.partition("~")
        rows = self._reader.passages_of(self._reader.document_rows[original])
        sentences = np.concatenate([self._reader.sentence_vectors(row) for row in rows]).astype(np.float32)
        passages = np.asarray(self._reader.passage_vectors[rows.start : rows.stop], np.float32)
        return (self._moved(sentences), self._moved(passages)) if copied else (_unit(sentences), passages)

    def _moved(self, vectors: FloatArray) -> FloatArray:
        noise = self._chance.standard_normal(vectors.shape, np.float32) * np.float32(NOISE)
        # A part that is zero stays so.
        return _unit(vectors + noise * (vectors != 0))


def _unit(vectors: FloatArray) -> FloatArray:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    found: FloatArray = vectors / np.where(lengths > 0, lengths, 1)
    return found


def documents(sentences: int) -> Iterator[Document]:
    """So many, and a few."""
    chance = random.Random(0)
    number = count = 0
    while True:
        for document in open_corpus(CORPUS).documents():
            yield document if not number else _copy(document, number, chance)
            count += sum(len(passage.sentences) for passage in document.passages)
            if count >= sentences:
                return
        number += 1


def _copy(document: Document, number: int, chance: random.Random) -> Document:
    letters = [*document.text]
    for passage in document.passages:
        words = [*_WORD.finditer(document.text, passage.start, passage.end)]
        if words:
            word = chance.choice(words)
            letters[word.start() : word.end()] = chance.sample(word.group(), len(word.group()))
    told = "".join(chance.choices("bdfgklmnprstvz", k=4)) + "ia"
    return replace(
        document,
        doc_id=f"{document.doc_id}~{number}",
        title=f"{document.title} {told}",
        text="".join(letters),
        passages=tuple(replace(each, passage_id=f"{each.passage_id}~{number}") for each in document.passages),
    )


def queries() -> list[Query]:
    """Structured ones, of the test."""
    return random.Random(0).sample(list(open_corpus(CORPUS).queries("test")), QUESTIONS)


def in_words(query: Query) -> Query:
    """The same, as a question."""
    return Query(query.query_id, "", text=question_about(query.aspects[0], query.entity))


def pair(query: Query) -> Query:
    """The same, without words and identifiers."""
    return replace(query, text="", entity_id="")


def percentiles(ask: Callable[[Query], object], asked: Sequence[Query]) -> dict[str, float]:
    """Milliseconds, and those of the processor, which others that use it do not change much."""
    for query in asked[:WARM]:
        ask(query)
    taken, worked = [], []
    for query in asked:
        begun, busy = time.perf_counter(), time.process_time()
        ask(query)
        taken.append(1e3 * (time.perf_counter() - begun))
        worked.append(1e3 * (time.process_time() - busy))
    told = {"": np.percentile(taken, (50, 95)), "processor_": np.percentile(worked, (50, 95))}
    return {
        f"{kind}p{part}_ms": float(each)
        for kind, both in told.items()
        for part, each in zip((50, 95), both, strict=True)
    }


def asking(searcher: Searcher) -> dict[str, dict[str, float]]:
    """How long each kind of question takes."""
    asked = queries()

    def ask(query: Query) -> object:
        return searcher.search(searcher.understand(query).query, HITS)

    return {
        "question": percentiles(ask, [in_words(query) for query in asked]),
        "pair": percentiles(ask, [pair(query) for query in asked]),
    }


def by_vectors(searcher: Searcher) -> dict[str, float]:
    """How long it takes to find the nearest alone."""
    return percentiles(lambda query: searcher.index.search(searcher.encode([query])[0], HITS), queries())


KINDS: dict[str, Callable[[Query], Query]] = {
    "question": in_words,
    "pair": pair,
    "entity": lambda query: Query(query.query_id, query.entity),
    "keywords": lambda query: Query(query.query_id, "", text=f"{query.entity} {query.aspects[0]}"),
}


def recalled(searcher: Searcher, number: int = OF_KIND) -> dict[str, float]:
    """By kind of question, the share of the first ten by all evidence of all passages that are among those found."""
    found: dict[str, float] = {}
    for kind, asked in KINDS.items():
        shares = []
        for query in queries()[:number]:
            read = searcher.understand(asked(query)).query
            evidence = searcher.fusion.scores(read, searcher.gather(read)[1])
            _, best = searcher.index.best(evidence, HITS)
            # Copies are equally good: it counts how many of those found are as good as the last of the ten.
            scores = np.array(searcher.find(read, HITS).scores)
            shares.append(float(np.mean(scores >= best[-1] - ROUNDING)) if len(best) else 1.0)
        found[kind] = statistics.fmean(shares)
    return found


def build_alone(folder: Path, sentences: int) -> None:
    """In a process of its own: an index of so many sentences, and beside it what its building took."""
    kept, known = Kept(PassageIndex.open(folder.parent / "base")), open_for_questions()
    report = build_index(documents(sentences), kept, folder, knowledge_base=known, model_path=MODEL)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    write_json(
        folder.with_suffix(".json"),
        {"building_without_encoder_seconds": report.seconds, "building_peak_memory_mb": peak},
    )


def ask_alone(folder: Path) -> None:
    """In a process of its own: what `measured` says of an index."""
    begun = time.perf_counter()
    PassageIndex.open(folder)
    opened = time.perf_counter() - begun
    searcher = Searcher.open(folder, load_model(MODEL))
    found = {"open_ms": 1e3 * opened, **asking(searcher)}
    found["peak_memory_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    print(json.dumps({**found, "vectors": by_vectors(searcher), "same_as_weighing_all": recalled(searcher)}))


def measured(folder: Path, built: dict[str, float]) -> dict[str, Any]:
    """All that is measured of an index, and what was of its building."""
    counts = PassageIndex.open(folder).manifest.counts
    done = subprocess.run([sys.executable, __file__, "--ask", folder], capture_output=True, text=True, check=True)
    size = {path.name: path.stat().st_size for path in folder.glob("store-*/*")}
    segments = sum(each for name, each in size.items() if name.startswith("segment"))
    cold = [_cold(folder) for _ in range(5)]
    title = f"Zorbic fever {PassageIndex.open(folder).manifest.generation}"
    new = build_document(doc_id=title, title=title, sections=[Section("Symptoms", "It makes one yawn.")])
    begun = time.perf_counter()
    update_index({"here": [new]}, load_model(MODEL), folder)
    index = PassageIndex.open(folder)
    found = index.reader.titles.get(title.lower())
    added = time.perf_counter() - begun
    if not found:
        sys.exit("what was added is not found")
    return {
        "documents": counts.documents,
        "passages": counts.passages,
        "sentences": counts.sentences,
        **built,
        "megabytes": sum(size.values()) / 1e6,
        "bytes_per_sentence": sum(size.values()) / counts.sentences,
        "of_these_segments": segments / counts.sentences,
        **json.loads(done.stdout.splitlines()[-1]),
        "cold_command_seconds": statistics.median(cold),
        "adding_a_document_seconds": added,
    }


def _cold(folder: Path) -> float:
    command = [sys.executable, "-m", "auscult.cli.main", "search", str(folder), "How is gout treated?"]
    begun = time.perf_counter()
    subprocess.run(command, capture_output=True, check=True)
    return time.perf_counter() - begun


def added_again(work: Path) -> dict[str, Any]:
    """How long `auscult add` takes over a folder in which nothing has changed."""
    folder, index = work / "files", work / "of-files"
    folder.mkdir(exist_ok=True)
    count = 0
    for count, document in enumerate(open_corpus(CORPUS).documents(), 1):
        (folder / f"{count:05d}.txt").write_text(f"{document.title}\n\n{document.text}", encoding="utf-8")
    command = [sys.executable, "-m", "auscult.cli.main"]
    if not (index / "CURRENT").is_file():
        subprocess.run([*command, "index", str(folder), "--out", str(index)], capture_output=True, check=True)
    taken = []
    for _ in range(REPEATS):
        begun = time.perf_counter()
        subprocess.run([*command, "add", str(index), str(folder)], capture_output=True, check=True)
        taken.append(time.perf_counter() - begun)
    return {"documents": count, "seconds": statistics.median(taken)}


def peer(folder: Path, place: Path) -> dict[str, Any]:
    """LanceDB as its users would: vectors, full-text search, hybrid by reciprocal ranks, grouped by document."""
    import lancedb
    from lancedb.rerankers import RRFReranker

    searcher = Searcher.open(folder, load_model(MODEL))
    reader, part = searcher.index.reader, searcher.encoder.parts["question"]
    begun = time.perf_counter()
    vectors = _unit(np.asarray(reader.passage_vectors[:], np.float32)[:, part])
    rows = [
        {"row": row, "document": int(owner), "vector": vectors[row], "text": reader.passage_text(row)}
        for row, owner in enumerate(reader.passage_documents.tolist())
    ]
    table = lancedb.connect(place).create_table("passages", rows)
    table.create_fts_index("text")
    table.create_index("dot", vector_column_name="vector", index_type="IVF_HNSW_SQ")
    table.wait_for_index([each.name for each in table.list_indices()])
    seconds = time.perf_counter() - begun
    ranker = RRFReranker()

    def vector_of(query: Query) -> FloatArray:
        return _unit(searcher.encode([query])[:, part])[0]

    def ask(query: Query) -> list[int]:
        words = re.sub(r"\W+", " ", query.text)
        found = (
            table.search(query_type="hybrid").vector(vector_of(query)).text(words).rerank(ranker).limit(50).to_list()
        )
        best: dict[int, int] = {}
        for hit in found:
            best.setdefault(hit["document"], hit["row"])
        return [*best.values()][:HITS]

    asked = [in_words(query) for query in queries()]
    nearest, exact = [], []
    for query in asked:
        vector = vector_of(query)
        nearest.append([hit["row"] for hit in table.search(vector).limit(HITS).to_list()])
        exact.append(np.argsort(-(vectors @ vector), kind="stable")[:HITS].tolist())
    return {
        "engine": f"LanceDB {lancedb.__version__}, hybrid, IVF_HNSW_SQ",
        "publishing_seconds": seconds,
        **{f"question_{name}": value for name, value in percentiles(ask, asked).items()},
        "same_by_vectors": statistics.fmean(map(_overlap, nearest, exact)),
        "megabytes": sum(path.stat().st_size for path in place.rglob("*") if path.is_file()) / 1e6,
    }


def _overlap(found: Sequence[object], expected: Sequence[object]) -> float:
    return len({*found} & {*expected}) / len(expected) if expected else 1.0


def kept_before(path: Path) -> dict[str, Any]:
    """What was measured of the folder before; empty where nothing was."""
    found: dict[str, Any] = json.loads(path.read_text())[0].get("unchanged_folder", {}) if path.is_file() else {}
    return found


def merged(
    path: Path, part: str, rows: list[dict[str, Any]], key: Callable[[dict[str, Any]], Any]
) -> list[dict[str, Any]]:
    """Rows, and those of the record before that were not measured again."""
    before = json.loads(path.read_text())[0][part] if path.is_file() else []
    return [*{key(each): each for each in (*before, *rows)}.values()]


def about(row: dict[str, Any]) -> str:
    """A size, without the few sentences that there are more."""
    return f"{row['sentences']:.1e}"


def main() -> None:
    """Build, ask, and write the record."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--sentences", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    options.add_argument("--work", type=Path, help="folder for indexes, kept; default: one that is removed")
    options.add_argument("--folder", action="store_true", help="also a folder that is added again, unchanged")
    options.add_argument("--peer", action="store_true", help="also a peer, at 100,000 sentences")
    options.add_argument("--keep", action="store_true", help="measure indexes of --work that are there")
    options.add_argument("--ask", type=Path, help=argparse.SUPPRESS)
    options.add_argument("--build", type=Path, help=argparse.SUPPRESS)
    options.add_argument("--out", type=Path, default=RESULT)
    chosen = options.parse_args()
    if chosen.ask:
        ask_alone(chosen.ask)
        return
    if chosen.build:
        build_alone(chosen.build, *chosen.sentences)
        return
    with tempfile.TemporaryDirectory() as removed:
        work = chosen.work or Path(removed)
        known = open_for_questions()
        base = work / "base"
        if not (base / "CURRENT").is_file():
            build_index(open_corpus(CORPUS).documents(), load_model(MODEL), base, knowledge_base=known)
        sizes: list[dict[str, Any]] = []
        compared: list[dict[str, Any]] = []
        again = added_again(work) if chosen.folder else kept_before(chosen.out)
        title = f"Serving, {CORPUS} and copies of it, {load_model(MODEL).name}"

        def keep(rows: list[dict[str, Any]], row: dict[str, Any]) -> None:
            """What was measured is written at once: a later part may fail."""
            rows.append(row)
            print(json.dumps(row), file=sys.stderr, flush=True)
            record = {
                "kind": "serving",
                "title": title,
                "questions": QUESTIONS,
                "unchanged_folder": again,
                "sizes": sorted(merged(chosen.out, "sizes", sizes, about), key=itemgetter("sentences")),
                "engines": merged(chosen.out, "engines", compared, itemgetter("engine")),
                **stamp(),
            }
            write_json(chosen.out, [record])

        for sentences in chosen.sentences:
            place = work / f"{sentences}"
            noted = place.with_suffix(".json")
            if not (chosen.keep and noted.is_file()):
                shutil.rmtree(place, ignore_errors=True)
                command = [sys.executable, __file__, "--build", place, "--sentences", str(sentences)]
                subprocess.run(command, check=True)
            keep(sizes, measured(place, json.loads(noted.read_text(encoding="utf-8"))))
            if sentences == OF_PEER and chosen.peer:
                shutil.rmtree(work / "lance", ignore_errors=True)
                keep(compared, peer(place, work / "lance"))


if __name__ == "__main__":
    main()
