"""A small MedQuAD and what goes with it, as files in a folder of data; and a model that has learned nothing."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np

ENTITIES = {
    "Migraine": (
        "GARD",
        "Q133823",
        "C0149931",
        "throbbing headache with nausea",
        "triptans and rest in a dark room",
    ),
    "Gout": (
        "NIAMS",
        "Q133087",
        "C0018099",
        "a swollen and painful big toe",
        "allopurinol to lower uric acid",
    ),
    "Asthma": (
        "NHLBI",
        "Q35869",
        "C0004096",
        "wheezing and a tight chest",
        "inhaled corticosteroids every day",
    ),
    "Psoriasis": ("NIAMS", "Q179945", "C0033860", "red patches of scaly skin", "creams and light therapy"),
}


def packed(path: Path, rows: list[dict[str, object]] | str) -> None:
    text = rows if isinstance(rows, str) else "".join(json.dumps(row) + "\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode()))


def write_medquad(folder: Path) -> None:
    """Four documents of three passages; three queries a document; all passages are candidates."""
    folder.mkdir(parents=True)
    documents, queries, lines = [], [], ["query_id\trank\trelevance\tpassage_id\tbm25_score\n"]
    passages = [f"{name}-{number}" for name in ENTITIES for number in (1, 2, 3)]
    for number, (name, (source, wikidata, cui, symptom, cure)) in enumerate(ENTITIES.items()):
        texts = (f"{name} is a long-lasting condition.", f"Signs are {symptom}.", f"Treatment means {cure}.")
        aspects = ("information", "symptoms", "treatment")
        documents.append(
            {
                "doc_id": name,
                "split": "test" if number < 3 else "train",
                "source": source,
                "collection": "c",
                "url": "",
                "title": name,
                "entity": name,
                "entity_id": wikidata,
                "umls_cuis": [cui],
                "semantic_group": "Disorders",
                "synonyms": [],
                "passages": [
                    {"passage_id": f"{name}-{place}", "question": "What?", "qtype": aspect, "text": text}
                    for place, (aspect, text) in enumerate(zip(aspects, texts, strict=True), start=1)
                ],
            }
        )
        for place, aspect in enumerate(aspects, start=1):
            if number == 3:
                continue
            query_id = f"q{len(queries) + 1}"
            queries.append(
                {
                    "query_id": query_id,
                    "text": "",
                    "entity": name,
                    "entity_id": wikidata,
                    "aspect": aspect,
                    "aspect_heading": aspect,
                    "relevant": [{"passage_id": f"{name}-{place}", "doc_id": name, "relevance": 1}],
                }
            )
            lines += [f"{query_id}\t{rank}\t0\t{each}\t0\n" for rank, each in enumerate(passages[:9], start=1)]
    packed(folder / "documents.jsonl.gz", documents)
    packed(folder / "queries_test.jsonl.gz", queries)
    packed(folder / "queries_train.jsonl.gz", "")
    packed(folder / "questions_without_answers.jsonl.gz", "")
    packed(folder / "candidates_test_bm25.tsv.gz", "".join(lines))


def write_data(folder: Path) -> None:
    """That MedQuAD, and a knowledge base of three concepts and a code."""
    write_medquad(folder / "medquad")
    kg = folder / "kg"
    kg.mkdir()
    header = "id\tname\tsource\tsynonyms\tdefinition\txrefs\n"
    concepts = "DOID:1\tdisease\tDO\t\t\t\nDOID:2\tmigraine\tDO\t\t\tUMLS:C0149931\nDOID:3\tgout\tDO\t\t\t\n"
    packed(kg / "entities.tsv.gz", header + concepts)
    packed(kg / "triples.tsv.gz", "subject_id\tsubject_name\trelation\tobject_id\tobject_name\tsource\n")
    packed(kg / "icd10cm_2018_categories.tsv.gz", "code\ttitle\nL40\tPsoriasis\n")


def write_model(folder: Path, training: dict[str, object], seed: int = 0) -> None:
    """A CDV model that has learned nothing: random weights."""
    import torch

    from auscult_lab.cdv.encoder import CdvEncoder
    from auscult_lab.cdv.network import CdvConfig, CdvNetwork
    from auscult_lab.cdv.persistence import save
    from auscult_lab.cdv.spaces import AverageSpace
    from auscult_lab.modules.word_vectors import FLAGS, AveragedWords, SubwordTable

    torch.manual_seed(seed)
    table = np.random.default_rng(seed).normal(size=(200, 8)).astype(np.float32)
    vectors = SubwordTable(table, min_n=3, max_n=5, hash_count=2)
    sentences = AveragedWords(vectors)
    network = CdvNetwork(CdvConfig(input_dim=sentences.dim + FLAGS, lstm_dim=6, discourse_dim=5, target_dim=8))
    spaces = {part: AverageSpace(vectors, np.zeros(8, np.float32)) for part in ("entity", "aspect")}
    encoder = CdvEncoder(network, sentences, spaces, name=folder.name)
    save(encoder, folder, training=training)
