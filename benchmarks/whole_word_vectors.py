"""Train vectors of whole words on the text of a training, and write them in GloVe's format.

    python benchmarks/whole_word_vectors.py RUN OUT.txt [--dim 300] [--epochs 5]

RUN is the folder of a training with its own word vectors; its `words/text.txt`, one tokenised sentence per line, is
read. The vectors are skip-gram's without subwords (mikolov2013), so that words outside the text have none, as in
GloVe's files. They are not GloVe vectors, whose training text of billions of words is not available. Set AUSCULT_GLOVE
to OUT for experiments/arnold2020-sentence-encoders.yaml.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import floret

from auscult.files.writing import whole_or_nothing


def main() -> None:
    """Train, and write one line per word: the word and its numbers."""
    parser = argparse.ArgumentParser(description="Train whole words' vectors on a training's text.")
    parser.add_argument("run", type=Path, metavar="RUN")
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("--dim", type=int, default=300)
    parser.add_argument("--epochs", type=int, default=5)
    given = parser.parse_args()
    model = floret.train_unsupervised(
        str(given.run / "words" / "text.txt"),
        model="skipgram",
        mode="fasttext",
        dim=given.dim,
        epoch=given.epochs,
        minn=0,
        maxn=0,
        minCount=3,
        thread=2,
        verbose=1,
    )
    with whole_or_nothing(given.out) as partial, partial.open("w", encoding="utf-8") as file:
        for word in model.get_words():
            numbers = " ".join(f"{number:.5f}" for number in model.get_word_vector(word))
            file.write(f"{word} {numbers}\n")


if __name__ == "__main__":
    main()
