"""Cheaper forms of a backbone for processors: ONNX Runtime, in single precision or in 8-bit integers.

A form reads the same tokens and returns the same token states (rounded, in 8 bits). Every architecture works with it
unchanged: only `Backbone.forward` differs. In 8 bits it is dynamic quantisation (zafrir2019, which grundmann2021
suggests for a faster cross-encoder): weights of linear layers are 8-bit integers, activations are rounded at run time,
and no calibration is needed. Embeddings stay in single precision.

Cost: exporting runs the model once. A float32 ONNX file is as large as the model; 8 bits shrink all but the embeddings
to a quarter. Forms are for inference only: they have no gradients. (torch's own quantisation is deprecated.)
"""

from __future__ import annotations

import copy
import dataclasses
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import torch
from torch import Tensor, nn

from auscult.encoders.onnx_runtime import open_session, quantise
from auscult.errors import ModelError
from auscult.files.writing import whole_or_nothing
from auscult.telemetry import naming_extra
from auscult_lab.encoders.base import PassageRanker
from auscult_lab.encoders.registry import architecture
from auscult_lab.modules.backbone import Backbone

Form = Literal["onnx", "onnx-int8"]
FORMS: tuple[Form, ...] = ("onnx", "onnx-int8")

CONVERTED = "onnx"
"""The folder of a model's in which its other form lies, with `form.json`."""

_OPSET = 18


class OnnxBackbone(Backbone):
    """A backbone whose transformer runs in ONNX Runtime, on the processor.

    Args:
        path: The ONNX file; made by `export_onnx`.
        like: The backbone it was exported from, for its tokenizer and sizes.
        threads: Threads of the runtime; torch's number by default.

    Raises:
        MissingExtraError: ONNX Runtime is not installed.
        ModelError: The file cannot be opened.
    """

    def __init__(self, path: Path, like: Backbone, *, threads: int | None = None) -> None:
        # Only the sizes: the original weights should not stay in memory.
        super().__init__(SimpleNamespace(config=like.model.config), like.tokenizer)
        self._session: Any = open_session(path, threads=threads or torch.get_num_threads())
        self._inputs = [each.name for each in self._session.get_inputs()]

    @property
    def device(self) -> torch.device:
        """The processor."""
        return torch.device("cpu")

    def forward(self, batch: dict[str, Tensor]) -> Tensor:
        """Return last hidden states, float32 (texts, tokens, dim)."""
        (states,) = self._session.run(None, {name: batch[name].numpy() for name in self._inputs})
        return torch.from_numpy(states)


class _States(nn.Module):
    """A transformer as a function of tensors."""

    def __init__(self, model: Any, names: list[str]) -> None:
        super().__init__()
        self.model = model
        self.names = names

    def forward(self, *rows: Tensor) -> Tensor:
        states: Tensor = self.model(**dict(zip(self.names, rows, strict=True))).last_hidden_state
        return states


def convert(ranker: PassageRanker, form: Form, folder: Path) -> PassageRanker:
    """Return the same ranker on another form of its backbones.

    Args:
        ranker: A trained ranker; it is not changed.
        form: "onnx" (single precision) or "onnx-int8" (linear layers in 8 bits).
        folder: Folder of this ranker's ONNX files, and no other's; existing files are used again.

    Raises:
        MissingExtraError: The package that exports or runs it is not installed.
        ModelError: It needs more of its encoder than the last states, which is all that a form returns, or has another
            kind of attention.
    """
    if not ranker.plain:
        remedy = "keep it as it is, or take a bi-, poly- or cross-encoder"
        raise ModelError("a model that reads the last states of a plain encoder", ranker.title, remedy)
    converted: dict[str, Backbone] = {}
    for name, backbone in ranker.backbones().items():
        whole = folder / f"{name}.onnx"
        path = whole if form == "onnx" else whole.with_suffix(".int8.onnx")
        if not path.is_file():
            if not whole.is_file():
                export_onnx(backbone, whole)
            if form == "onnx-int8":
                quantise(whole, path)
        converted[name] = OnnxBackbone(path, backbone)
    # Marks are in the tokenizer already; adding them again would need the weights.
    unmarked: dict[str, Any] = {"mark": False} if hasattr(ranker.config, "mark") else {}
    other = architecture(ranker.kind).ranker(dataclasses.replace(ranker.config, **unmarked), **converted)
    other.config = ranker.config
    other.head.load_state_dict(ranker.head.state_dict())
    return other.eval()


def export_onnx(backbone: Backbone, path: Path) -> None:
    """Write a backbone as ONNX in single precision, for any number of texts of any length.

    Raises:
        MissingExtraError: The package that exports it is not installed.
    """
    with naming_extra("onnx", "onnx", "onnxscript"):
        import onnxscript  # noqa: F401
    model = copy.deepcopy(backbone.model).cpu().eval()
    # Two texts of different length: the exporter treats sizes that are equal here as the same symbol.
    example = backbone.tokenize(["one two three four five", "one"], max_tokens=backbone.limit)
    names = list(example)
    free = {0: torch.export.Dim("texts"), 1: torch.export.Dim("tokens", max=backbone.limit)}
    with whole_or_nothing(path) as partial:
        torch.onnx.export(
            _States(model, names).eval(),
            tuple(example.values()),
            str(partial),
            input_names=names,
            output_names=["states"],
            dynamic_shapes=(tuple(free for _ in names),),
            opset_version=_OPSET,
            external_data=False,
            dynamo=True,
            verbose=False,
        )
