"""A Hugging Face encoder and its tokenizer as one module; the only file that opens either.

Any encoder that `AutoModel` opens will do, by hub name ("dmis-lab/biobert-v1.1") or from a local folder, whose weights
are safetensors: a pickle may run code when it is read. Many texts are read a few at a time, similar lengths together,
because padding costs as much as words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from auscult.errors import AuscultError, ConfigError, ModelError, naming_extra

Pooling = Literal["cls", "mean"]
QUERY_MARK, PASSAGE_MARK = "[QUERY]", "[PASSAGE]"
# What the hub may call a model: "bert-base-uncased", "dmis-lab/biobert-v1.1". All else is a path.
_HUB_NAME = re.compile(r"\w[\w.\-]*(/[\w.\-]+)?")


class Backbone(nn.Module):
    """Texts to token states."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        super().__init__()
        self.model = model
        self.tokenizer = tokenizer

    @property
    def dim(self) -> int:
        """Length of a token state."""
        return int(self.model.config.hidden_size)

    @property
    def depth(self) -> int:
        """Layers."""
        return int(self.model.config.num_hidden_layers)

    @property
    def limit(self) -> int:
        """Tokens of the longest text it can read."""
        config = self.model.config
        # A RoBERTa counts positions from behind that of padding, and has so many fewer for a text.
        table = getattr(getattr(self.model, "embeddings", None), "position_embeddings", None)
        padding = getattr(table, "padding_idx", None)
        positions = config.max_position_embeddings - (0 if padding is None else padding + 1)
        return int(min(positions, self.tokenizer.model_max_length))

    @property
    def device(self) -> torch.device:
        """Where its weights are."""
        return next(self.parameters()).device

    def tokenize(
        self, texts: Sequence[str], second: Sequence[str] | None = None, *, max_tokens: int
    ) -> dict[str, Tensor]:
        """Return padded token ids of texts, or of pairs of which the second is cut where both are too long.

        Returns:
            The tokenizer's fields ("input_ids", "attention_mask", ...), each (texts, tokens), on the processor.
        """
        cut = {"truncation": True if second is None else "only_second", "max_length": min(max_tokens, self.limit)}
        batch = self.tokenizer(list(texts), None if second is None else list(second), padding=True, **cut)
        return {name: torch.tensor(rows) for name, rows in batch.items()}

    def cut(self, text: str, max_tokens: int) -> str:
        """Cut a text behind so many tokens; marks around it are not counted."""
        _, offsets = self.pieces(text, max_tokens)
        return text[: offsets[-1][1]] if offsets else ""

    def pieces(self, text: str, max_tokens: int) -> tuple[list[int], list[tuple[int, int]]]:
        """Return token ids of a text's beginning without marks, and the characters each token is made of."""
        limited = self.tokenizer(
            text, add_special_tokens=False, truncation=True, max_length=max_tokens, return_offsets_mapping=True
        )
        return limited["input_ids"], limited["offset_mapping"]

    def layers(self, batch: dict[str, Tensor]) -> tuple[Tensor, ...]:
        """Return states of every layer, each (texts, tokens, dim): the embeddings' first, the last layer's last."""
        read = self.model(**{name: rows.to(self.device) for name, rows in batch.items()}, output_hidden_states=True)
        states: tuple[Tensor, ...] = read.hidden_states
        return states

    @property
    def words(self) -> nn.Embedding:
        """Its table of tokens, before positions and layers."""
        table: nn.Embedding = self.model.get_input_embeddings()
        return table

    def forward(self, batch: dict[str, Tensor]) -> Tensor:
        """Return last hidden states, (texts, tokens, dim)."""
        states: Tensor = self.model(**{name: rows.to(self.device) for name, rows in batch.items()}).last_hidden_state
        return states

    def forgetful(self, batch: dict[str, Tensor]) -> Tensor:
        """Return as `forward`, but activations are not held: they are computed again on the way back."""
        names = list(batch)
        # On its own device: from where its arguments are, checkpointing tells whose random numbers to draw again.
        rows = [each.to(self.device) for each in batch.values()]
        states: Tensor = checkpoint(lambda *rows: self(dict(zip(names, rows, strict=True))), *rows, use_reentrant=False)
        return states

    def add_marks(self) -> None:
        """Teach it the tokens [QUERY] and [PASSAGE], for one encoder that reads both (grundmann2021, section 3.2)."""
        self.tokenizer.add_tokens([QUERY_MARK, PASSAGE_MARK], special_tokens=True)
        # Never fewer than there are: some encoders have more rows than their tokenizer has tokens.
        rows = max(len(self.tokenizer), self.model.get_input_embeddings().num_embeddings)
        self.model.resize_token_embeddings(rows, mean_resizing=False)

    def save(self, folder: Path) -> None:
        """Write both in the library's own format."""
        self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)


def pool(states: Tensor, mask: Tensor, pooling: Pooling) -> Tensor:
    """Return one vector a text, (texts, dim): the first token's state, or the mean over all tokens.

    Args:
        states: (texts, tokens, dim).
        mask: (texts, tokens), other than 0 where there is a token.
        pooling: Which.
    """
    if pooling == "cls":
        return states[:, 0]
    weights = mask.to(states).unsqueeze(-1)
    return (states * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1.0)


def open_backbone(name_or_path: str) -> Backbone:
    """Open an encoder and its tokenizer.

    Raises:
        MissingExtraError: When `transformers` is not installed.
        ModelError: When there is none of that name, or it cannot be opened.
    """
    with naming_extra("lab", "transformers"):
        from transformers import AutoModel
    model, tokenizer = _open(name_or_path, partial(AutoModel.from_pretrained, use_safetensors=True))
    # What BERT puts on top of its first token is never read here, and training on several GPUs wants a gradient for
    # every parameter that asks for one.
    if getattr(model, "pooler", None) is not None:
        model.pooler.requires_grad_(False)
    return Backbone(model, tokenizer)


def _open(name_or_path: str, opens: Callable[[str], Any], what: str = "a Hugging Face encoder") -> tuple[Any, Any]:
    """Return a model of an encoder, and its tokenizer.

    Args:
        name_or_path: A hub name or a folder.
        opens: What makes the model of it.
        what: That is, for messages.

    Raises:
        ModelError: There is none of that name, it cannot be opened, or it is no encoder that reads several texts.
    """
    with naming_extra("transformers", "transformers"):
        from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(name_or_path)
        model = opens(name_or_path)
    except AuscultError:
        raise
    except Exception as error:
        # A damaged file comes as an error of one of three libraries, of half a dozen kinds.
        folder = Path(name_or_path)
        reason = next(iter(str(error).splitlines()), "") or type(error).__name__
        # The library takes what is no folder for a name of the hub, and calls a misspelt path no good name.
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
            remedy = "correct the path of the folder, or give a hub name on a machine with a network"
        raise ModelError(expected, got, remedy) from error
    kind = model.config.model_type
    if getattr(model.config, "max_position_embeddings", None) is None or model.config.is_encoder_decoder:
        found = f"{name_or_path!r}, of type '{kind}', which has none of its own or a decoder"
        raise ModelError("an encoder with a table of positions", found, "take one of BERT's kind")
    if tokenizer.pad_token is None:
        found = f"{name_or_path!r}, of type '{kind}', without a token for padding"
        raise ModelError("an encoder that reads texts of several lengths at once", found, "take one of BERT's kind")
    return model, tokenizer


def new_encoder(kind: str, settings: Mapping[str, Any]) -> Any:
    """Return an encoder of the library with random weights.

    Args:
        kind: As the library names it: "longformer".
        settings: Of its configuration, where they differ from the library's; what that does not know is ignored there.

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
        shape: Settings of its configuration that are to be others, for one with random weights; None for its own.

    Returns:
        The model, the tokenizer, and how many tokens it reads at most.

    Raises:
        MissingExtraError: When `transformers` is not installed.
        ModelError: There is none of that name, or it predicts no masked tokens.
        ConfigError: A setting that its configuration does not have, or that no encoder can be made with.
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
        # It calls a checkpoint that has no predicting layer corrupted.
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
    """Return what chooses tokens and replaces them, of (texts, tokens) and where they are marks.

    Args:
        tokenizer: Whose tokens they are.
        share: Of the others, how many are chosen.
    """
    with naming_extra("lab", "transformers"):
        from transformers import DataCollatorForLanguageModeling
    chooses = DataCollatorForLanguageModeling(tokenizer, mlm_probability=share)
    return lambda ids, marks: chooses.torch_mask_tokens(ids, special_tokens_mask=marks)


def find_file(name_or_path: str, file: str) -> Path | None:
    """Return a file of a saved model: in its folder, or of a hub name's; None where it has no such file.

    Raises:
        MissingExtraError: When `transformers` is not installed.
    """
    if Path(name_or_path).is_dir():
        path = Path(name_or_path) / file
        return path if path.is_file() else None
    with naming_extra("lab", "transformers"):
        from transformers.utils.hub import cached_file
    try:
        found: str | None = cached_file(
            name_or_path, file, _raise_exceptions_for_missing_entries=False, _raise_exceptions_for_gated_repo=False
        )
    except (OSError, ValueError):
        return None
    return Path(found) if found else None


def fastest_device() -> torch.device:
    """Return the first GPU that torch can use, else the processor. `CUDA_VISIBLE_DEVICES` chooses another, or none."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def batches(lengths: Sequence[int], size: int | None) -> Iterator[list[int]]:
    """Yield positions of texts, shortest first, a batch at a time.

    Args:
        lengths: Of each text, in any unit.
        size: Texts in a batch; None for all in one.
    """
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    step = size or max(1, len(order))
    for start in range(0, len(order), step):
        yield order[start : start + step]


def in_order(results: Iterable[tuple[Sequence[int], Tensor]], *, dim: int = 0, empty: Sequence[int] = (0,)) -> Tensor:
    """Join the results of batches in the order of the texts.

    Args:
        results: Of each batch the positions of its texts, as `batches` gave them, and a tensor.
        dim: The dimension of the texts in it.
        empty: Shape of the result where there is no batch.
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
    """Compute scores of vectors in single precision, whatever transformers run in: bfloat16 would make ties."""
    return torch.autocast(tensor.device.type, enabled=False)
