"""A Hugging Face encoder and its tokenizer as one module; the only file that opens either.

Any encoder that `AutoModel` opens is accepted, by hub name ("dmis-lab/biobert-v1.1") or from a local folder. Its
weights must be safetensors, because reading a pickle may run code. Batches have texts of similar length, because
padding costs as much as words.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from auscult.errors import AuscultError, ConfigError, ModelError
from auscult.telemetry import naming_extra

Pooling = Literal["cls", "mean"]
QUERY_MARK, PASSAGE_MARK = "[QUERY]", "[PASSAGE]"
# Names that the hub allows: "bert-base-uncased", "dmis-lab/biobert-v1.1". Everything else is a path.
_HUB_NAME = re.compile(r"\w[\w.\-]*(/[\w.\-]+)?")


class Backbone(nn.Module):
    """Texts to token states."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        super().__init__()
        # For the whole process. cuDNN prepares a plan for each new batch shape, which takes longer than the attention.
        torch.backends.cuda.enable_cudnn_sdp(False)
        self.model = model
        self.tokenizer = tokenizer

    @property
    def dim(self) -> int:
        """Length of a token state."""
        return int(self.model.config.hidden_size)

    @property
    def depth(self) -> int:
        """Number of layers."""
        return int(self.model.config.num_hidden_layers)

    @property
    def limit(self) -> int:
        """Tokens of the longest text it can read."""
        config = self.model.config
        # RoBERTa counts positions from the one after padding, and so has fewer for a text.
        table = getattr(getattr(self.model, "embeddings", None), "position_embeddings", None)
        padding = getattr(table, "padding_idx", None)
        positions = config.max_position_embeddings - (0 if padding is None else padding + 1)
        return int(min(positions, self.tokenizer.model_max_length))

    @property
    def device(self) -> torch.device:
        """Device of its weights."""
        return next(self.parameters()).device

    def tokenize(
        self, texts: Sequence[str], second: Sequence[str] | None = None, *, max_tokens: int
    ) -> dict[str, Tensor]:
        """Return padded token ids of texts, or of pairs; the second text of a pair that is too long is cut.

        Returns:
            The tokenizer's fields ("input_ids", "attention_mask", ...), each (texts, tokens), on the processor.
        """
        cut = {"truncation": True if second is None else "only_second", "max_length": min(max_tokens, self.limit)}
        batch = self.tokenizer(list(texts), None if second is None else list(second), padding=True, **cut)
        return {name: torch.tensor(rows) for name, rows in batch.items()}

    def cut(self, text: str, max_tokens: int) -> str:
        """Cut a text after a number of tokens, without counting marks."""
        _, offsets = self.pieces(text, max_tokens)
        return text[: offsets[-1][1]] if offsets else ""

    def pieces(self, text: str, max_tokens: int) -> tuple[list[int], list[tuple[int, int]]]:
        """Return token ids of a text's beginning without marks, and the character range of each token."""
        limited = self.tokenizer(
            text, add_special_tokens=False, truncation=True, max_length=max_tokens, return_offsets_mapping=True
        )
        return limited["input_ids"], limited["offset_mapping"]

    def layers(self, batch: dict[str, Tensor]) -> tuple[Tensor, ...]:
        """Return states of every layer from the embeddings to the last, each (texts, tokens, dim)."""
        read = self.model(**{name: rows.to(self.device) for name, rows in batch.items()}, output_hidden_states=True)
        states: tuple[Tensor, ...] = read.hidden_states
        return states

    @property
    def words(self) -> nn.Embedding:
        """Its token embeddings, without positions and layers."""
        table: nn.Embedding = self.model.get_input_embeddings()
        return table

    def forward(self, batch: dict[str, Tensor]) -> Tensor:
        """Return last hidden states, (texts, tokens, dim)."""
        states: Tensor = self.model(**{name: rows.to(self.device) for name, rows in batch.items()}).last_hidden_state
        return states

    def forgetful(self, batch: dict[str, Tensor]) -> Tensor:
        """Return the same as `forward`, but recompute activations in the backward pass instead of storing them."""
        names = list(batch)
        # On its device: checkpointing infers from the arguments' device which random state to restore.
        rows = [each.to(self.device) for each in batch.values()]
        states: Tensor = checkpoint(lambda *rows: self(dict(zip(names, rows, strict=True))), *rows, use_reentrant=False)
        return states

    def add_marks(self) -> None:
        """Add the tokens [QUERY] and [PASSAGE], for an encoder that reads both (grundmann2021, section 3.2)."""
        self.tokenizer.add_tokens([QUERY_MARK, PASSAGE_MARK], special_tokens=True)
        # Never fewer rows than before: some encoders have more rows than their tokenizer has tokens.
        rows = max(len(self.tokenizer), self.model.get_input_embeddings().num_embeddings)
        self.model.resize_token_embeddings(rows, mean_resizing=False)

    def save(self, folder: Path) -> None:
        """Write both in the library's own format."""
        save(self.model, self.tokenizer, folder)


def save(model: Any, tokenizer: Any, folder: Path) -> None:
    """Write a model and its tokenizer in the library's own format, which `open_backbone` opens as an encoder."""
    with _bars_on_terminals():
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)


def pool(states: Tensor, mask: Tensor, pooling: Pooling) -> Tensor:
    """Return one vector a text, (texts, dim): the first token's state, or the mean over all tokens.

    Args:
        states: (texts, tokens, dim).
        mask: (texts, tokens), not 0 for tokens.
        pooling: "cls" or "mean".
    """
    if pooling == "cls":
        return states[:, 0]
    weights = mask.to(states).unsqueeze(-1)
    return (states * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1.0)


def open_backbone(name_or_path: str) -> Backbone:
    """Open an encoder and its tokenizer.

    Raises:
        MissingExtraError: When `transformers` is not installed.
        ModelError: When there is no such encoder, or it cannot be opened.
    """
    with naming_extra("lab", "transformers"):
        from transformers import AutoModel
    model, tokenizer = _open(name_or_path, partial(AutoModel.from_pretrained, use_safetensors=True))
    # BERT's pooler is never used here, and training on several GPUs needs a gradient for every parameter that requires
    # one.
    if getattr(model, "pooler", None) is not None:
        model.pooler.requires_grad_(False)
    return Backbone(model, tokenizer)


def _open(name_or_path: str, opens: Callable[[str], Any], what: str = "a Hugging Face encoder") -> tuple[Any, Any]:
    """Return a model of an encoder, and its tokenizer.

    Args:
        name_or_path: A hub name or a folder.
        opens: Function that opens the model.
        what: Description of the model, for messages.

    Raises:
        ModelError: There is no such model, it cannot be opened, or it is no encoder that reads several texts.
    """
    with naming_extra("lab", "transformers"):
        from transformers import AutoTokenizer

    try:
        with _bars_on_terminals():
            tokenizer = AutoTokenizer.from_pretrained(name_or_path)
            model = opens(name_or_path)
    except AuscultError:
        raise
    except Exception as error:
        # A damaged file raises one of half a dozen errors of three libraries.
        folder = Path(name_or_path)
        reason = next(iter(str(error).splitlines()), "") or type(error).__name__
        # The library treats everything that is no folder as a hub name, and misspelt paths as invalid names.
        beside = folder.parent != Path() and folder.parent.is_dir()
        expected, got = what, f"{name_or_path!r} ({reason})"
        if folder.is_dir() and any(folder.glob("*.bin")) and not any(folder.glob("*.safetensors")):
            remedy = "have them written as safetensors, with save_pretrained, where the pickle is trusted"
            expected, got = f"{what} with weights as safetensors", f"{name_or_path!r} with a pickle of them"
        elif folder.is_dir():
            remedy = "give a folder saved with save_pretrained, or copy it again"
        elif folder.exists() or beside or not _HUB_NAME.fullmatch(name_or_path):
            got = f"{name_or_path!r}, {'which is a file' if folder.exists() else 'where there is no folder'}"
            remedy = "correct the path"
        else:
            got = f"{name_or_path!r}, which is no folder here, nor opens from the hub ({reason})"
            remedy = "correct the folder's path, or unset HF_HUB_OFFLINE and give a hub name where there is a network"
        raise ModelError(expected, got, remedy) from error
    kind = model.config.model_type
    if getattr(model.config, "max_position_embeddings", None) is None or model.config.is_encoder_decoder:
        got = f"{name_or_path!r}, of type '{kind}', which has none of its own or a decoder"
        raise ModelError("an encoder with a table of positions", got, "take one of BERT's kind")
    if tokenizer.pad_token is None:
        got = f"{name_or_path!r}, of type '{kind}', without a token for padding"
        raise ModelError("an encoder that reads texts of several lengths at once", got, "take one of BERT's kind")
    return model, tokenizer


@contextmanager
def _bars_on_terminals() -> Iterator[None]:
    """Keep the library's progress bars out of logs, where each step would be a line."""
    with naming_extra("lab", "transformers"):
        from transformers.utils import logging

    is_changed = logging.is_progress_bar_enabled() and not sys.stderr.isatty()
    if is_changed:
        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        if is_changed:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]


def new_encoder(kind: str, settings: Mapping[str, Any]) -> Any:
    """Return an encoder of the library with random weights.

    Args:
        kind: Its name in the library: "longformer".
        settings: Settings of its configuration that differ from the library's; the library ignores unknown ones.

    Raises:
        MissingExtraError: When `transformers` is not installed.
    """
    with naming_extra("lab", "transformers"):
        from transformers import AutoConfig, AutoModel
    return AutoModel.from_config(AutoConfig.for_model(kind, **settings))  # type: ignore[no-untyped-call]


def open_masked_language_model(name_or_path: str, shape: Mapping[str, int] | None = None) -> tuple[Any, Any, int]:
    """Open an encoder with the layer that predicts masked tokens, and its tokenizer.

    Args:
        name_or_path: A hub name or a folder.
        shape: Changed settings of its configuration, for an encoder with random weights; None for its own weights.

    Returns:
        The model, the tokenizer, and the largest number of tokens that it reads.

    Raises:
        MissingExtraError: When `transformers` is not installed.
        ModelError: There is no such encoder, or it predicts no masked tokens.
        ConfigError: A setting is not in its configuration, or its value is impossible.
    """
    with naming_extra("lab", "transformers"):
        from transformers import AutoConfig, AutoModelForMaskedLM
        from transformers.utils import logging

    def begun(name: str) -> Any:
        if shape is not None:
            config, remedy = AutoConfig.from_pretrained(name), "correct 'encoder' in the experiment file"
            if unknown := [field for field in shape if not hasattr(config, field)]:
                raise ConfigError(f"settings of a {config.model_type} encoder", ", ".join(unknown), remedy)
            changed = {**config.to_dict(), **shape}
            if changed["hidden_size"] % changed["num_attention_heads"]:
                found = f"{changed['hidden_size']} for {changed['num_attention_heads']} attention heads"
                raise ConfigError("a hidden_size that its attention heads divide among them", found, remedy)
            config = type(config).from_dict(changed)
            return AutoModelForMaskedLM.from_config(config)  # type: ignore[no-untyped-call]
        before = logging.get_verbosity()
        # The library calls a checkpoint without a predicting layer corrupted.
        logging.set_verbosity_error()  # type: ignore[no-untyped-call]
        try:
            return AutoModelForMaskedLM.from_pretrained(name, use_safetensors=True)
        finally:
            logging.set_verbosity(before)

    model, tokenizer = _open(name_or_path, begun, "a Hugging Face encoder that predicts masked tokens")
    if tokenizer.mask_token is None:
        raise ModelError("a tokenizer with a mask", f"that of {name_or_path!r}, without one", "take one of BERT's kind")
    return model, tokenizer, Backbone(model.base_model, tokenizer).limit


def masking(tokenizer: Any, share: float) -> Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """Return a function that chooses and replaces tokens, from (texts, tokens) and their mask of marks.

    Args:
        tokenizer: The tokenizer.
        share: Share of tokens to choose, marks excluded.
    """
    with naming_extra("lab", "transformers"):
        from transformers import DataCollatorForLanguageModeling
    chooses = DataCollatorForLanguageModeling(tokenizer, mlm_probability=share)
    return lambda ids, marks: chooses.torch_mask_tokens(ids, special_tokens_mask=marks)


def find_file(name_or_path: str, file: str) -> Path | None:
    """Return the path of a saved model's file, from its folder or the hub's cache; None where there is no such file.

    Raises:
        MissingExtraError: When `transformers` is not installed.
    """
    if Path(name_or_path).is_dir():
        path = Path(name_or_path) / file
        return path if path.is_file() else None
    with naming_extra("lab", "transformers"):
        from transformers.utils.hub import cached_file
    try:
        cached: str | None = cached_file(
            name_or_path, file, _raise_exceptions_for_missing_entries=False, _raise_exceptions_for_gated_repo=False
        )
    except (OSError, ValueError):
        return None
    return Path(cached) if cached else None


def fastest_device() -> torch.device:
    """Return the first GPU that torch can use, else the processor. `CUDA_VISIBLE_DEVICES` selects or hides GPUs."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def batches(lengths: Sequence[int], size: int | None) -> Iterator[list[int]]:
    """Yield positions of texts, shortest first, a batch at a time.

    Args:
        lengths: Length of each text, in any unit.
        size: Texts per batch; None for a single batch.
    """
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    step = size or max(1, len(order))
    for start in range(0, len(order), step):
        yield order[start : start + step]


def in_order(results: Iterable[tuple[Sequence[int], Tensor]], *, dim: int = 0, empty: Sequence[int] = (0,)) -> Tensor:
    """Join the results of batches in the order of the texts.

    Args:
        results: For each batch, positions of its texts from `batches`, and a tensor.
        dim: The dimension of the texts in it.
        empty: Shape of the result without batches.
    """
    rows: list[int] = []
    parts: list[Tensor] = []
    for batch, part in results:
        rows += batch
        parts.append(part)
    if not parts:
        return torch.zeros(*empty)
    joined = torch.cat(parts, dim=dim)
    return joined.index_select(dim, torch.tensor(rows, device=joined.device).argsort())


def single_precision(tensor: Tensor) -> AbstractContextManager[object]:
    """Compute scores in single precision, whatever the precision of transformers: bfloat16 would cause ties."""
    return torch.autocast(tensor.device.type, enabled=False)
