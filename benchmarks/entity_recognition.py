"""Speed of recognising entities in clinical notes, and shares of negated, past, family and conditional mentions.

    AUSCULT_DATA=... python benchmarks/entity_recognition.py [--spacy NAME ...] [--gliner NAME ...]

Reads all clinical notes of the catalogue. Every recogniser is timed over whole notes (for those with a model, a sample
of them), then labelling as a whole: recognising, dropping placeholders, marking contexts. Times are processor times,
which other processes of a busy machine affect less than wall-clock times. By default, spaCy is a blank pipeline with
names of the knowledge base, which shows spaCy's own cost. Also measures the accuracy of contexts on
tests/data/context_sentences.tsv. Writes benchmarks/results/entity_recognition.json.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

import spacy

from auscult.concepts import KnowledgeBase
from auscult.concepts.context import CONTEXTS, find_contexts
from auscult.concepts.opening import open_knowledge_base
from auscult.documents import Document
from auscult.files.writing import write_json
from auscult.provenance import stamp
from auscult_lab.corpora.note_labels import NO_LABELS, NoteLabeller
from auscult_lab.corpora.opening import open_corpus
from auscult_lab.recognition import (
    DictionaryRecognizer,
    Entity,
    EntityRecognizer,
    GlinerRecognizer,
    SpacyRecognizer,
    read_entities,
)

HERE = Path(__file__).resolve().parent
RESULT = HERE / "results" / "entity_recognition.json"
GOLD = HERE.parent / "tests" / "data" / "context_sentences.tsv"
NOTES = ("mtsamples", "aci-bench", "mts-dialog", "primock57")
RULER_NAMES = 5_000


def seconds(deed: Callable[[], object], repeats: int) -> float:
    """Return the least processor time of several runs, in one thread."""
    taken = []
    for _ in range(repeats):
        begun = time.process_time()
        deed()
        taken.append(time.process_time() - begun)
    return min(taken)


def speed(recognizer: EntityRecognizer, texts: Sequence[str], repeats: int) -> dict[str, Any]:
    """Return megabytes (UTF-8) per second of one recogniser, and counts of its entities."""
    size = sum(len(text.encode()) for text in texts) / 1e6
    entities = sum(map(len, recognizer.recognise_many(texts)))
    taken = seconds(lambda: list(recognizer.recognise_many(texts)), repeats)
    return {
        "recognizer": recognizer.name,
        "notes": len(texts),
        "megabytes": size,
        "megabytes_per_second": size / taken,
        "entities": entities,
        "entities_per_megabyte": entities / size,
    }


def ruler(knowledge: KnowledgeBase) -> SpacyRecognizer:
    """Return a spaCy pipeline without a statistical model: its tokeniser and phrase rules."""
    nlp = spacy.blank("en")
    names = [concept.name for concept in islice(knowledge, RULER_NAMES)]
    patterns: list[dict[str, Any]] = [{"label": "PROBLEM", "pattern": name} for name in names]
    nlp.add_pipe("entity_ruler", config={"phrase_matcher_attr": "LOWER"}).add_patterns(patterns)  # type: ignore[attr-defined]
    nlp.meta["name"] = "blank_entity_ruler"
    return SpacyRecognizer(nlp)


def models(arguments: argparse.Namespace, knowledge: KnowledgeBase) -> Iterator[EntityRecognizer]:
    """Yield the chosen recognisers."""
    yield ruler(knowledge)
    for name in arguments.spacy:
        yield SpacyRecognizer(name)
    for name in arguments.gliner:
        yield GlinerRecognizer(name)


def shares(entities: Sequence[Entity]) -> dict[str, float]:
    """Return the shares of mentions in each context, in none, and in one that excludes them as labels."""
    counts = Counter(context for entity in entities for context in entity.contexts)
    return {
        **{context: counts[context] / len(entities) for context in CONTEXTS},
        "none": sum(not entity.contexts for entity in entities) / len(entities),
        "no_label": sum(bool(entity.contexts & set(NO_LABELS)) for entity in entities) / len(entities),
    }


def gold() -> dict[str, Any]:
    """Return the share of gold sentences with exactly right contexts, and precision and recall of each context."""
    with GOLD.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    pairs = []
    for row in rows:
        at = row["sentence"].index(row["entity"])
        (found,) = find_contexts(row["sentence"], [(at, at + len(row["entity"]))])
        pairs.append((set(found), set(row["flags"].split(",")) - {"-"}))
    parts = {
        row["part"]: [f == w for (f, w), r in zip(pairs, rows, strict=True) if r["part"] == row["part"]] for row in rows
    }
    return {
        "sentences": len(rows),
        **{f"exact_{part}": sum(right) / len(right) for part, right in parts.items()},
        "by_context": {
            name: {
                "precision": sum(name in f & w for f, w in pairs) / sum(name in f for f, _ in pairs),
                "recall": sum(name in f & w for f, w in pairs) / sum(name in w for _, w in pairs),
            }
            for name in CONTEXTS
        },
    }


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure everything and return the record."""
    documents: list[Document] = [document for name in NOTES for document in open_corpus(name).documents()]
    texts = [document.text for document in documents]
    sample = random.Random(0).sample(texts, min(arguments.sample, len(texts)))
    knowledge = open_knowledge_base()
    dictionary = DictionaryRecognizer(knowledge)
    rows = [row for document in documents for row in read_entities(document, dictionary)]
    entities = [entity for row in rows for entity in row]
    whole = seconds(lambda: [read_entities(d, dictionary) for d in documents], arguments.repeats)
    bare = seconds(lambda: [read_entities(d, dictionary, with_contexts=False) for d in documents], arguments.repeats)
    labeller = NoteLabeller(dictionary)
    labelled = [any(e.mentioned for e in found) for document in documents for found in labeller.entities(document)]
    return {
        "kind": "entity_recognition",
        "title": f"Entities in {len(documents):,} clinical notes",
        "corpora": list(NOTES),
        "notes": len(documents),
        "sentences": len(rows),
        "megabytes": sum(len(text.encode()) for text in texts) / 1e6,
        "cores_used": 1,
        "repeats": arguments.repeats,
        "recognizers": [
            speed(dictionary, texts, arguments.repeats),
            *(speed(model, sample, 1) for model in models(arguments, knowledge)),
        ],
        "labelling_seconds": whole,
        "labelling_without_context_seconds": bare,
        "mentions": len(entities),
        "passages_with_label": sum(labelled),
        "context_shares": shares(entities),
        "context_gold": gold(),
        "versions": {name: version(name) for name in ("ahocorasick_rs", "spacy")},
        **stamp(),
    }


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Speed of entity recognition, and contexts of what is found.")
    parser.add_argument("--spacy", nargs="*", default=[], help="spaCy pipelines, by name or folder")
    parser.add_argument("--gliner", nargs="*", default=[], help="GLiNER models, by name or folder")
    parser.add_argument("--sample", type=int, default=300, help="notes to read with recognisers that run a model")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=RESULT)
    return parser.parse_args()


def main() -> None:
    """Measure and write the record."""
    arguments = parse()
    record = run(arguments)
    write_json(arguments.out, record)
    print(json.dumps(record, indent=2))


if __name__ == "__main__":
    main()
