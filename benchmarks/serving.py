"""Speed and size of an index of many sentences, and comparison with servers.

    AUSCULT_DATA=... python benchmarks/serving.py [--sentences N ...] [--work FOLDER] [--folder] [--peer]

The documents are MedQuAD's, with the model `fast`. Larger sizes add copies with other ids, another word in each title,
the letters of one word of each passage in another order, and vectors with noise (0.02 per component), so that neither
texts nor vectors repeat. Vectors of copies are not computed: build times are without the encoder.

For each size, in its own process, after twenty warm-up questions: the time to open without a model; questions in words
("What are the symptoms of gout?") to ten hits with marked sentences and all evidence, and structured queries, in
wall-clock and processor time; peak memory; a cold query on the command line; and adding one document until it is found.
Then vectors only, all of which are read. And for four kinds of questions, the share of hits that score as high as the
first ten by the evidence of every passage (`Searcher.gather`). Bytes are those on disk.

--keep: an index in the folder of --work is measured without rebuilding, with the record of its building.

--folder: `auscult add` runs again on an unchanged folder of all documents as text files.

--peer, of 100,000 sentences: LanceDB (of `auscult[benchmarks]`) with the same passages, their question vectors and
full-text search, fused by its reciprocal ranks, with the best passage per document.

Merges into benchmarks/results/serving.json.
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
from auscult.encoders.contract import FloatArray
from auscult.files.writing import write_json
from auscult.index import PassageIndex
from auscult.ingest.building import build_index
from auscult.ingest.updating import update_index
from auscult.provenance import stamp
from auscult.search import Searcher
from auscult.understanding import Query
from auscult.understanding.aspects import question_about
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
    """The model with saved vectors of the original documents from an index; copies get them with noise."""

    def __init__(self, index: PassageIndex, seed: int = 0) -> None:
        self.encoder: Any = load_model(MODEL)
        self.name, self.dim, self.parts = self.encoder.name, self.encoder.dim, self.encoder.parts
        self.fingerprint, self.fusion = self.encoder.fingerprint, self.encoder.fusion
        self._reader = index.reader
        self._chance = np.random.default_rng(seed)

    def encode_queries(self, queries: Sequence[Query]) -> FloatArray:
        """Return the model's vectors of queries."""
        found: FloatArray = self.encoder.encode_queries(queries)
        return found

    def encode_documents(self, documents: Sequence[Document]) -> list[FloatArray]:
        """Return vectors of sentences."""
        return [sentences for sentences, _ in self.encode_passages(documents)]

    def encode_passages(self, documents: Sequence[Document]) -> list[tuple[FloatArray, FloatArray]]:
        """Return vectors of sentences and passages."""
        return [self._of(document) for document in documents]

    def _of(self, document: Document) -> tuple[FloatArray, FloatArray]:
        original, copied, _ = document.doc_id.partition("~")
        rows = self._reader.passages_of(self._reader.document_rows[original])
        sentences = np.concatenate([self._reader.stored(row).vectors for row in rows]).astype(np.float32)
        passages = np.asarray(self._reader.passage_vectors[rows.start : rows.stop], np.float32)
        return (self._moved(sentences), self._moved(passages)) if copied else (_unit(sentences), passages)

    def _moved(self, vectors: FloatArray) -> FloatArray:
        noise = self._chance.standard_normal(vectors.shape, np.float32) * np.float32(NOISE)
        # A part of zeros stays zero.
        return _unit(vectors + noise * (vectors != 0))


def _unit(vectors: FloatArray) -> FloatArray:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    found: FloatArray = vectors / np.where(lengths > 0, lengths, 1)
    return found


def documents(sentences: int) -> Iterator[Document]:
    """Yield documents with at least a number of sentences."""
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
    name = "".join(chance.choices("bdfgklmnprstvz", k=4)) + "ia"
    return replace(
        document,
        doc_id=f"{document.doc_id}~{number}",
        title=f"{document.title} {name}",
        text="".join(letters),
        passages=tuple(replace(each, passage_id=f"{each.passage_id}~{number}") for each in document.passages),
    )


def queries() -> list[Query]:
    """Return structured test queries."""
    return random.Random(0).sample(list(open_corpus(CORPUS).queries("test")), QUESTIONS)


def in_words(query: Query) -> Query:
    """Return a query as a question in words."""
    return Query(query.query_id, "", text=question_about(query.aspects[0], query.entity))


def pair(query: Query) -> Query:
    """Return a query with entity and aspects only."""
    return replace(query, text="", entity_id="")


def percentiles(ask: Callable[[Query], object], queries: Sequence[Query]) -> dict[str, float]:
    """Return percentiles of wall-clock and of processor milliseconds; other processes affect the latter less."""
    for query in queries[:WARM]:
        ask(query)
    taken, worked = [], []
    for query in queries:
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
    """Return the percentiles of each kind of question."""
    some = queries()

    def ask(query: Query) -> object:
        return searcher.search(searcher.understand(query).query, HITS)

    return {
        "question": percentiles(ask, [in_words(query) for query in some]),
        "pair": percentiles(ask, [pair(query) for query in some]),
    }


def by_vectors(searcher: Searcher) -> dict[str, float]:
    """Return the percentiles of a search by vectors only."""
    return percentiles(lambda query: searcher.index.search(searcher.encode([query])[0], HITS), queries())


KINDS: dict[str, Callable[[Query], Query]] = {
    "question": in_words,
    "pair": pair,
    "entity": lambda query: Query(query.query_id, query.entity),
    "keywords": lambda query: Query(query.query_id, "", text=f"{query.entity} {query.aspects[0]}"),
}


def recalled(searcher: Searcher, number: int = OF_KIND) -> dict[str, float]:
    """Return by kind of question the share of hits as good as the first ten by the evidence of all passages."""
    by_kind: dict[str, float] = {}
    for kind, form in KINDS.items():
        shares = []
        for query in queries()[:number]:
            read = searcher.understand(form(query)).query
            evidence = searcher.fusion.scores(read, searcher.gather(read)[1])
            _, best = searcher.index.best(evidence, HITS)
            # Copies have equal scores, so hits as good as the last of the ten are counted.
            scores = np.array(searcher.find(read, HITS).scores)
            shares.append(float(np.mean(scores >= best[-1] - ROUNDING)) if len(best) else 1.0)
        by_kind[kind] = statistics.fmean(shares)
    return by_kind


def build_alone(folder: Path, sentences: int) -> None:
    """Build an index of a number of sentences in its own process, and write the figures beside it."""
    kept, known = Kept(PassageIndex.open(folder.parent / "base")), open_for_questions()
    report = build_index(documents(sentences), kept, folder, knowledge_base=known, model_path=MODEL)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    write_json(
        folder.with_suffix(".json"),
        {"building_without_encoder_seconds": report.seconds, "building_peak_memory_mb": peak},
    )


def ask_alone(folder: Path) -> None:
    """Print in its own process the figures of an index for `measured`."""
    begun = time.perf_counter()
    PassageIndex.open(folder)
    opened = time.perf_counter() - begun
    searcher = Searcher.open(folder, load_model(MODEL))
    found = {"open_ms": 1e3 * opened, **asking(searcher)}
    found["peak_memory_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    print(json.dumps({**found, "vectors": by_vectors(searcher), "same_as_weighing_all": recalled(searcher)}))


def measured(folder: Path, built: dict[str, float]) -> dict[str, Any]:
    """Return all figures of an index, including those of its building."""
    counts = PassageIndex.open(folder).manifest.counts
    process = subprocess.run([sys.executable, __file__, "--ask", folder], capture_output=True, text=True, check=True)
    size = {path.name: path.stat().st_size for path in folder.glob("store-*/*")}
    segments = sum(each for name, each in size.items() if name.startswith("segment"))
    cold = [_cold(folder) for _ in range(5)]
    title = f"Zorbic fever {PassageIndex.open(folder).manifest.generation}"
    new = build_document(doc_id=title, title=title, sections=[Section("Symptoms", "It makes one yawn.")])
    begun = time.perf_counter()
    update_index({"here": [new]}, load_model(MODEL), folder)
    index = PassageIndex.open(folder)
    rows = index.reader.titles.get(title.lower())
    added = time.perf_counter() - begun
    if not rows:
        sys.exit("what was added is not found")
    return {
        "documents": counts.documents,
        "passages": counts.passages,
        "sentences": counts.sentences,
        **built,
        "megabytes": sum(size.values()) / 1e6,
        "bytes_per_sentence": sum(size.values()) / counts.sentences,
        "of_these_segments": segments / counts.sentences,
        **json.loads(process.stdout.splitlines()[-1]),
        "cold_command_seconds": statistics.median(cold),
        "adding_a_document_seconds": added,
    }


def _cold(folder: Path) -> float:
    command = [sys.executable, "-m", "auscult.cli.main", "search", str(folder), "How is gout treated?"]
    begun = time.perf_counter()
    subprocess.run(command, capture_output=True, check=True)
    return time.perf_counter() - begun


def added_again(work: Path) -> dict[str, Any]:
    """Return the time of `auscult add` on an unchanged folder."""
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
    """Return figures of LanceDB: vectors and full-text search, fused by reciprocal ranks, grouped by document."""
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
        hits = table.search(query_type="hybrid").vector(vector_of(query)).text(words).rerank(ranker).limit(50).to_list()
        best: dict[int, int] = {}
        for hit in hits:
            best.setdefault(hit["document"], hit["row"])
        return [*best.values()][:HITS]

    questions = [in_words(query) for query in queries()]
    nearest, exact = [], []
    for query in questions:
        vector = vector_of(query)
        nearest.append([hit["row"] for hit in table.search(vector).limit(HITS).to_list()])
        exact.append(np.argsort(-(vectors @ vector), kind="stable")[:HITS].tolist())
    return {
        "engine": f"LanceDB {lancedb.__version__}, hybrid, IVF_HNSW_SQ",
        "publishing_seconds": seconds,
        **{f"question_{name}": value for name, value in percentiles(ask, questions).items()},
        "same_by_vectors": statistics.fmean(map(_overlap, nearest, exact)),
        "megabytes": bytes_in(place) / 1e6,
    }


def bytes_in(folder: Path) -> int:
    """Return the bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _overlap(found: Sequence[object], expected: Sequence[object]) -> float:
    return len({*found} & {*expected}) / len(expected) if expected else 1.0


def kept_before(path: Path) -> dict[str, Any]:
    """Return the recorded figures of the folder; empty where there are none."""
    found: dict[str, Any] = json.loads(path.read_text())[0].get("unchanged_folder", {}) if path.is_file() else {}
    return found


def merged(
    path: Path, part: str, rows: list[dict[str, Any]], key: Callable[[dict[str, Any]], Any]
) -> list[dict[str, Any]]:
    """Return new rows, and those of the old record that were not measured again."""
    before = json.loads(path.read_text())[0][part] if path.is_file() else []
    return [*{key(each): each for each in (*before, *rows)}.values()]


def about(row: dict[str, Any]) -> str:
    """Return a size rounded down, without surplus sentences."""
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
            """Write the figures at once, since a later part may fail."""
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
