"""Overlap of MedQuAD's training documents with its test, and results of models on queries without overlap.

    AUSCULT_DATA=... PYTHONPATH=. python benchmarks/medquad_overlap.py [--model cdv] [--seed 0]

1. Counts, for each training split, the documents that share a name, a UMLS concept, a whole passage
   (`auscult_lab.corpora.medquad_records`), 13 words in a row, or a concept of the knowledge base with a test document.
2. Selects the test queries that share nothing (`study.unseen`) with MedQuAD's documents that the model was
   trained on, and with any document that it was trained on, word vectors included, and writes their ids to
   benchmarks/data/, for `auscult evaluate medquad --queries`.
3. Measures BM25, TF-IDF and the model on all test queries and on both selections: one evaluation each.

Writes benchmarks/results/medquad-overlap.json.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, get_args

from auscult.catalogue import locate
from auscult.concepts.opening import open_knowledge_base
from auscult.concepts.resolver import EntityResolver
from auscult.documents import Document
from auscult.encoders import model_folder, training_record
from auscult.files.records import Record
from auscult.files.records import read_records as read_lines
from auscult.files.writing import write_json
from auscult.provenance import stamp
from auscult_lab.corpora.medquad_records import (
    DOCUMENTS,
    STRICT,
    Shared,
    TestTraces,
    in_split,
    normalised_words,
    strict_documents,
)
from auscult_lab.corpora.opening import open_corpus
from auscult_lab.evaluation.comparing import Entry, compare_models, open_entries
from auscult_lab.evaluation.records import write_records
from auscult_lab.evaluation.task import Task, build_task
from study.unseen import GRAM, UnseenQueries, unseen_subset

HERE = Path(__file__).resolve().parent
RESULT = HERE / "results" / "medquad-overlap.json"
CORPUS = "medquad"
SPLITS = ("train", "train-disjoint", "train-strict")
IDS = {
    "medquad": HERE / "data" / "medquad_unseen_in_medquad.txt",
    "all": HERE / "data" / "medquad_unseen_in_training.txt",
}


def records_of(split: str) -> Iterator[Record]:
    """Return lines of the documents of a split."""
    path = locate(CORPUS) / DOCUMENTS
    strict = strict_documents(read_lines(path)) if split == STRICT else ()
    return (record for record in read_lines(path) if in_split(record, split, strict))


def counts_of(split: str, test: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of the table of splits."""
    documents = list(records_of(split))
    shared = [test["traces"].shared_by(record) for record in documents]
    texts = [[normalised_words(part.text("text")) for part in record.records("passages")] for record in documents]
    seen = set(chain.from_iterable(texts))
    repeated = [[not test["runs"].isdisjoint(runs(text)) for text in passages] for passages in texts]
    return {
        "split": split,
        "documents": len(documents),
        "passages": sum(map(len, texts)),
        **{f"documents_sharing_a_{what}": sum(what in kinds for kinds in shared) for what in get_args(Shared)},
        "documents_sharing_a_name_or_concept": sum(bool(kinds - {"passage"}) for kinds in shared),
        "documents_sharing_any": sum(map(bool, shared)),
        "documents_titled_by_a_concept_of_a_test_title": sum(
            concept_of(test["resolver"], record) in test["concepts"] for record in documents
        ),
        "answers_of_the_test_that_are_a_passage": sum(text in seen for text in test["answers"]),
        f"documents_with_{GRAM}_words_of_a_test_document": sum(map(any, repeated)),
        f"passages_with_{GRAM}_words_of_a_test_document": sum(map(sum, repeated)),
    }


def concept_of(resolver: EntityResolver, record: Record) -> str:
    """Return the concept of a document's title by the knowledge base; the document's id where there is none."""
    matches = resolver.resolve(record.text("title", ""), limit=1, fuzzy=False)
    return matches[0].concept.concept_id if matches else record.text("doc_id")


def runs(text: str) -> set[str]:
    """Return all runs of 13 words of a text."""
    words = text.split()
    return {" ".join(words[start : start + GRAM]) for start in range(len(words) - GRAM + 1)}


def splits() -> list[dict[str, Any]]:
    """Return the table of splits."""
    test = list(records_of("test"))
    traces, resolver = TestTraces(), EntityResolver(open_knowledge_base())
    for record in test:
        traces.add(record)
    texts = {
        each.text("passage_id"): normalised_words(each.text("text")) for r in test for each in r.records("passages")
    }
    relevant = {each.passage_id for each in open_corpus(CORPUS).judgements("test")}
    known = {
        "traces": traces,
        "resolver": resolver,
        "concepts": {concept_of(resolver, record) for record in test},
        "runs": set().union(*map(runs, texts.values())),
        "answers": [texts[passage_id] for passage_id in sorted(relevant)],
    }
    return [counts_of(split, known) for split in SPLITS]


def training_documents(training: Mapping[str, Any], *, only: str = "") -> list[tuple[str, str | None]]:
    """Return corpora and splits that a model and its word vectors were trained on."""
    texts = training["experiment"]["word_vectors"]["texts"]
    return [(each["name"], each["split"]) for each in (*training["corpora"], *texts) if only in ("", each["name"])]


def selected(task: Task, read: list[tuple[str, str | None]]) -> tuple[list[str], dict[str, Any]]:
    """Return ids of the queries that share nothing with documents of corpora, and counts of the excluded by reason."""
    unseen = UnseenQueries(task.documents, task.queries, task.judgements)
    numbers = {f"{name} ({split})" if split else name: unseen.read(documents_of(name, split)) for name, split in read}
    return unseen.ids, {
        "training_documents": numbers,
        f"queries_sharing_{GRAM}_words": len(unseen.by_words),
        "queries_sharing_a_name_or_identifier": len(unseen.by_name),
        "queries": len(unseen.ids),
    }


def documents_of(name: str, split: str | None) -> Iterable[Document]:
    """Return documents of a corpus."""
    return open_corpus(name).documents(split)


def main() -> None:
    """Count, select, measure, and write the records."""
    parser = argparse.ArgumentParser(description="What MedQuAD's test shares with training documents.")
    parser.add_argument("--model", default="cdv", help="Whose training documents count; measured too.")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=RESULT)
    arguments = parser.parse_args()
    training: Any = training_record(model_folder(arguments.model))
    whole = build_task(open_corpus(CORPUS), seed=arguments.seed)
    tasks, chosen = [whole], []
    for scope, path in IDS.items():
        ids, counts = selected(whole, training_documents(training, only="" if scope == "all" else scope))
        path.write_text("\n".join(ids) + "\n", encoding="utf-8")
        which = "any document" if scope == "all" else "the MedQuAD documents"
        subset = unseen_subset(len(ids), f"{which} '{arguments.model}' was trained on")
        tasks.append(replace(build_task(open_corpus(CORPUS), ids=ids, seed=arguments.seed), subset=subset))
        chosen.append({"file": str(path.relative_to(HERE.parent)), **counts})
    record = {
        "kind": "medquad-overlap",
        "title": f"Splits, and what '{arguments.model}' was trained on",
        "model": arguments.model,
        "fingerprint": "",
        "splits": splits(),
        "unseen_queries": chosen,
        "seed": arguments.seed,
        **stamp(),
    }
    evaluated = []
    for task in tasks:
        opened = open_entries([Entry(model=name) for name in ("bm25", "tfidf", arguments.model)], CORPUS)
        evaluated += compare_models(task, opened.contenders).records
    record["fingerprint"] = evaluated[-1].fingerprint
    write_json(arguments.out, [record])
    write_records(arguments.out, evaluated)


if __name__ == "__main__":
    main()
