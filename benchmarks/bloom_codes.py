"""Find out what keeps CDV's entity encoder from learning the Bloom codes of entities (arnold2020, Eq. 1 and 2).

    python benchmarks/bloom_codes.py [--concepts 4000] [--epochs 30]

Of some concepts of the knowledge base, drawn at random, the encoder learns names, synonyms and definitions, but for one
description each of some of them. Measured after each epoch: the share of these held-out descriptions whose own code is
the likeliest of all concepts'. The first setting is the paper's; the others depart from it as their names say. Word
vectors are those of the shipped `cdv`.

Writes benchmarks/results/bloom_codes.json.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from pathlib import Path
from typing import Any

from auscult.concepts.opening import open_knowledge_base
from auscult.files.writing import write_json
from auscult.provenance import stamp
from auscult_lab.cdv.bloom_training import train_bloom_space
from auscult_lab.cdv.experiment import BloomTraining
from auscult_lab.cdv.word_vectors import given_word_vectors
from auscult_lab.training.experiment import WordVectorChoice
from auscult_lab.training.stages import Run

RESULT = Path(__file__).resolve().parent / "results" / "bloom_codes.json"
SETTINGS: dict[str, dict[str, Any]] = {
    "as in the paper": {},
    "faster: rate 0.003, dropout 0.2": {"learning_rate": 0.003, "dropout": 0.2},
    "the same, inputs ten times as large": {"learning_rate": 0.003, "dropout": 0.2, "input_scale": 10.0},
    "faster, cross entropy": {"learning_rate": 0.003, "dropout": 0.2, "loss": "cross-entropy"},
}
WORDS = "cdv"
SEED = 1


def main() -> None:
    """Train an encoder with each setting, and write the record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--concepts", type=int, default=4000, help="how many to learn")
    parser.add_argument("--held-out", type=int, default=1000, help="how many descriptions to hold out")
    parser.add_argument("--epochs", type=int, default=30, help="of each setting")
    parser.add_argument("--out", type=Path, default=RESULT)
    arguments = parser.parse_args()
    knowledge = open_knowledge_base("knowledge-base")
    drawn = random.Random(SEED).sample([concept.concept_id for concept in knowledge], arguments.concepts)
    described = [(concept_id, text) for concept_id in drawn for text in knowledge.descriptions(concept_id)]
    vectors = given_word_vectors(WordVectorChoice(model=WORDS))
    if vectors is None:
        raise SystemExit(f"expected word vectors in '{WORDS}'")
    rows = []
    for name, changed in SETTINGS.items():
        print(name)
        choice = BloomTraining(epochs=arguments.epochs, held_out=arguments.held_out, **changed)
        with tempfile.TemporaryDirectory() as folder:
            run = Run(Path(folder), print, progress=False)
            _, history = train_bloom_space(
                described, {}, vectors, choice, dim=vectors.dim, seed=SEED, accelerator="cpu", run=run
            )
        found = [epoch["validation_code_R@1"] for epoch in history.epochs]
        rows.append({"setting": name, "code_R@1": found, "loss": [epoch["loss"] for epoch in history.epochs]})
    record = {
        "kind": "bloom_codes",
        "title": "Codes of entities learnt",
        "concepts": arguments.concepts,
        "descriptions": len(described),
        "held_out": arguments.held_out,
        "seed": SEED,
        "settings": rows,
        **stamp(),
    }
    write_json(arguments.out, [record])
    print(arguments.out)


if __name__ == "__main__":
    main()
