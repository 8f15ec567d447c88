"""CDV in small, with weights drawn at random, and documents of its words."""

from __future__ import annotations

import numpy as np
import torch

from auscult.concepts import normalise_name
from auscult.documents import Document
from auscult.documents.building import build_document
from auscult.documents.document import Section
from auscult_lab.cdv.encoder import CdvEncoder
from auscult_lab.cdv.network import CdvConfig, CdvNetwork
from auscult_lab.cdv.spaces import AverageSpace, BloomConfig, BloomEncoder, BloomSpace
from auscult_lab.modules.word_vectors import FLAGS, AveragedWords, SubwordTable

WORDS = [
    "asthma", "kidney", "heart", "attack", "causes", "symptoms", "treatment", "of", "the", "and", "wheezing", "cough",
    "pain", "blood", "gene", "rare",
]  # fmt: skip


def documents(count: int = 7, seed: int = 0) -> list[Document]:
    rng = np.random.default_rng(seed)
    made = []
    for number in range(count):
        sections = [
            Section(
                heading=str(rng.choice(["Symptoms", "Causes and treatment", "Abstract"])),
                text="\n".join(
                    " ".join(rng.choice(WORDS, size=rng.integers(3, 9))).capitalize() + "."
                    for _ in range(rng.integers(1, 6))
                ),
            )
            for _ in range(rng.integers(1, 5))
        ]
        made.append(build_document(doc_id=f"d{number}", title=f"{WORDS[number]} disease", sections=sections))
    return made


def subwords(dim: int = 12) -> SubwordTable:
    table = np.random.default_rng(3).normal(size=(200, dim)).astype(np.float32)
    return SubwordTable(table, min_n=4, max_n=5, hash_count=2)


def make_encoder(kind: str, tasks: tuple[str, ...] = ("entity", "aspect")) -> CdvEncoder:
    torch.manual_seed(1)
    vectors = subwords()
    sentences = AveragedWords(vectors, {"the": 0.1, "of": 0.05} if kind == "average" else None)
    config = CdvConfig(
        input_dim=sentences.dim + FLAGS, lstm_dim=9, discourse_dim=8, target_dim=12, tasks=tasks,
        bounded=kind == "bloom", unit_halves=kind == "average",
    )  # fmt: skip
    spaces = {}
    names = {normalise_name("chronic wheezing"): "DOID:1", normalise_name("Wheezing, chronic"): "DOID:1"}
    for task in tasks:
        if kind == "average":
            spaces[task] = AverageSpace(vectors, np.full(12, 0.1, np.float32))
        else:
            bloom = BloomEncoder(BloomConfig(word_dim=12, lstm_dim=12, dense_dim=10, bits=64))
            spaces[task] = BloomSpace(bloom, vectors, {"DOID:1": np.full(12, 0.5, np.float32)}, names)
    return CdvEncoder(CdvNetwork(config), sentences, spaces, name=f"cdv-{kind}")
