"""Passages as windows of tokens, and their question part and that of questions in torch, as the encoder computes it.

A sentence s has the sum v_s of its tokens' states and their number n_s. With the centre m (`encoders.general.encoder`),

    q_s = n_s unit(unit(v_s) - m)       q(text) = unit(unit(v) - m) for a question, v summed over its tokens
    q(passage) = unit(a unit(sum of q_s over the first window) + (1 - a) unit(sum of q_s over all))

Title and headings are one more sentence at the beginning of a passage. In training they can be hidden, so that a reader
learns to find a passage without them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from auscult.documents import Document, Passage
from auscult.encoders.general.readers import WindowReader
from auscult_lab.modules.backbone import Backbone

Rows = npt.NDArray[np.int64]
_SENTENCES = 256
"""How many sentences of a passage are told apart; the last of them stands for all further ones."""
_NO_SENTENCE = -1
_ROUND = 16
_GROUPS = 4
_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class Windows:
    """Passages as a reader's windows of tokens.

    Attributes:
        ids: Token ids with marks, padded with 0, (windows, tokens).
        sentence: Number of each token's sentence in its passage, int16, same shape; -1 for marks and padding.
        lengths: Number of tokens of each window, (windows,).
        edges: Row of the first window of each passage, then the number of windows, (passages + 1,).
        early: Whether each sentence ends in the first window, or is the first, (passages, 256).
        labelled: Whether each passage's first sentence is its title and headings, (passages,).
        around: Tokens before and after each window.
        room: Tokens of a window without these.
    """

    ids: Tensor
    sentence: Tensor
    lengths: Rows
    edges: Rows
    early: Tensor
    labelled: Tensor
    around: tuple[tuple[int, ...], tuple[int, ...]]
    room: int

    @classmethod
    def of(cls, documents: Sequence[Document], reader: WindowReader, *, most: int) -> Windows:
        """Cut all passages of some documents, in order.

        Args:
            documents: The documents.
            reader: Reader whose windows these are; with no text before a question and a window.
            most: Largest number of windows of a passage; its further windows are left out.
        """
        told = [label_of(document, passage) for document in documents for passage in document.passages]
        texts = [
            [*label, *(document.slice(sentence) for sentence in passage.sentences)]
            for label, (document, passage) in zip(told, _passages(documents), strict=True)
        ]
        tokens, windows = reader.cut(texts)
        first, last = reader.around
        width = len(first) + reader.room + len(last)
        early = np.zeros((len(texts), _SENTENCES), bool)
        rows, sentences, edges = [], [], [0]
        begin, taken = 0, 0
        for number, text in enumerate(texts):
            end = begin + len(text)
            whole = np.cumsum([len(tokens[place]) for place in range(begin, end)][:_SENTENCES])
            early[number, : len(whole)] = (whole <= reader.room) | (np.arange(len(whole)) == 0)
            own = taken
            while own < len(windows) and windows[own] and windows[own][0] < end:
                own += 1
            for window in [each for each in windows[taken:own] if any(tokens[place] for place in each)][:most]:
                inside = [token for place in window for token in tokens[place]]
                row, of = np.zeros(width, np.int32), np.full(width, _NO_SENTENCE, np.int16)
                row[: len(first) + len(inside) + len(last)] = [*first, *inside, *last]
                of[len(first) : len(first) + len(inside)] = np.repeat(
                    np.minimum(np.array(window) - begin, _SENTENCES - 1), [len(tokens[place]) for place in window]
                )
                rows.append(row)
                sentences.append(of)
            edges.append(len(rows))
            begin, taken = end, own
        lengths = np.array([len(first) + len(last) + int((of >= 0).sum()) for of in sentences], np.int64)
        return cls(
            torch.from_numpy(np.stack(rows)), torch.from_numpy(np.stack(sentences)), lengths,
            np.array(edges, np.int64), torch.from_numpy(early), torch.tensor([bool(label) for label in told]),
            (tuple(first), tuple(last)), reader.room,
        )  # fmt: skip

    def __len__(self) -> int:
        """Return the number of passages."""
        return len(self.edges) - 1

    def to(self, device: torch.device) -> Windows:
        """Return the same windows on a device."""
        ids, sentence, early, labelled = (
            each.to(device) for each in (self.ids, self.sentence, self.early, self.labelled)
        )
        return Windows(ids, sentence, self.lengths, self.edges, early, labelled, self.around, self.room)

    def tokens_of(self, passage: int) -> list[int]:
        """Return the token ids of a passage's windows, without marks."""
        own = slice(int(self.edges[passage]), int(self.edges[passage + 1]))
        found: list[int] = self.ids[own][self.sentence[own] >= 0].tolist()
        return found

    def window_of(self, passage: int, sentence: int) -> int:
        """Return the number of a passage's window that contains a sentence of its text; -1 for none."""
        if sentence < 0:
            return -1
        place = min(sentence + int(self.labelled[passage]), _SENTENCES - 1)
        own = self.sentence[self.edges[passage] : self.edges[passage + 1]]
        found = (own == place).any(dim=1).nonzero()
        return int(found[0]) if len(found) else -1

    def rows(
        self, passages: Rows, *, most: int, kept: Rows | None = None, chance: np.random.Generator | None = None
    ) -> tuple[Rows, Rows]:
        """Return rows of windows, and for each the place of its passage among the given ones.

        Args:
            passages: Numbers of passages, (passages,).
            most: Largest number of windows of a passage: the first, the kept one, and others by chance.
            kept: Number of the window of each passage that is always taken, (passages,); -1 for none.
            chance: Draws the other windows; the first ones without it.
        """
        rows, places = [], []
        for place, passage in enumerate(passages.tolist()):
            begin, count = int(self.edges[passage]), int(self.edges[passage + 1] - self.edges[passage])
            must = {0} | ({int(kept[place])} if kept is not None and 0 <= kept[place] < count else set())
            others = np.array([number for number in range(count) if number not in must], np.int64)
            if count > most and chance is not None:
                others = chance.permutation(others)
            chosen = range(count) if count <= most else sorted(must | {*others[: max(0, most - len(must))].tolist()})
            rows += [begin + number for number in chosen]
            places += [place] * len(chosen)
        return np.array(rows, np.int64), np.array(places, np.int64)


class AskedReader(nn.Module):
    """A transformer that reads questions and windows of passages.

    Args:
        backbone: The transformer.
        windows: The passages, on its device.
        centre: m, (dim,).
        start_share: a, in [0, 1].
        half: Whether it reads in half precision, as on a GPU, also on a processor.
    """

    centre: Tensor

    def __init__(
        self, backbone: Backbone, windows: Windows, centre: Tensor, *, start_share: float = 0.5, half: bool = False
    ) -> None:
        super().__init__()
        self._half = half or backbone.device.type == "cuda"
        self.backbone = backbone
        self.windows = windows
        self.register_buffer("centre", centre.to(backbone.device))
        self._start_share = start_share

    def question_part(self, questions: Sequence[Sequence[int]]) -> Tensor:
        """Return the question part of questions, unit rows (questions, dim).

        Args:
            questions: Token ids of each, without marks; no word is left out.
        """
        first, last = self.windows.around
        rows = [[*first, *question[: self.windows.room], *last] for question in questions]
        longest = max(map(len, rows))
        ids = torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows], device=self.backbone.device)
        lengths = torch.tensor([len(row) for row in rows], device=self.backbone.device).unsqueeze(1)
        places = torch.arange(longest, device=self.backbone.device)
        inside = (places >= len(first)) & (places < lengths - len(last))
        sums = (self.states(ids, places < lengths) * inside.unsqueeze(2)).sum(dim=1)
        return normalize(normalize(sums, dim=1) - self.centre * inside.any(dim=1, keepdim=True), dim=1)

    def passage_part(
        self, passages: Rows, *, most: int, kept: Rows | None = None, chance: np.random.Generator | None = None,
        hidden: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        """Return the question part of passages, unit rows (passages, dim); zeros for a passage without tokens.

        Args:
            passages: Numbers of passages, (passages,).
            most: See `Windows.rows`, as for `kept` and `chance`.
            kept: The window of each passage that is always read, (passages,).
            chance: Draws the other windows.
            hidden: Whether title and headings of each passage are hidden, (passages,); None for of none.
        """
        device, size = self.backbone.device, len(passages)
        rows, places = self.windows.rows(passages, most=most, kept=kept, chance=chance)
        hides = torch.zeros(size, dtype=torch.bool, device=device) if hidden is None else hidden
        of = torch.from_numpy(passages).to(device)
        hides = hides & self.windows.labelled[of]
        sums = torch.zeros(size * _SENTENCES, self.backbone.dim, device=device)
        counts = torch.zeros(size * _SENTENCES, device=device)
        # Groups of similar length need less padding.
        order = np.argsort(self.windows.lengths[rows], kind="stable")
        for group in filter(len, np.array_split(order, _GROUPS)):
            states, key = self._read(rows[group], torch.from_numpy(places[group]).to(device), hides)
            sums = sums.index_add(0, key, states)
            counts = counts.index_add(0, key, torch.ones_like(key, dtype=counts.dtype))
        parts = normalize(normalize(sums, dim=1) - self.centre * (counts > 0).unsqueeze(1), dim=1)
        parts = (parts * counts.unsqueeze(1)).view(size, _SENTENCES, -1)
        early = self.windows.early[of]
        # The first sentence of the text is always early, also behind a hidden title.
        early = torch.cat([early[:, :1], early[:, 1:2] | hides.unsqueeze(1), early[:, 2:]], dim=1)
        start = normalize((parts * early.unsqueeze(2)).sum(dim=1), dim=1)
        whole = normalize(parts.sum(dim=1), dim=1)
        return normalize(self._start_share * start + (1 - self._start_share) * whole, dim=1)

    @torch.no_grad()
    def all_passages(self, passages: Rows | None = None, *, hidden: bool = False) -> Tensor:
        """Return the question part of passages with all their windows, (passages, dim), without a gradient.

        Args:
            passages: Numbers of passages; None for all.
            hidden: Whether titles and headings are hidden.
        """
        chosen = np.arange(len(self.windows)) if passages is None else passages
        counts = np.diff(self.windows.edges)[chosen]
        order = np.argsort(-counts, kind="stable")
        found = torch.zeros(len(chosen), self.backbone.dim, device=self.backbone.device)
        for at in range(0, len(order), _AT_ONCE):
            places = order[at : at + _AT_ONCE]
            hides = torch.full((len(places),), hidden, device=self.backbone.device)
            most = max(int(counts[places].max()), 1)
            found[torch.from_numpy(places).to(found.device)] = self.passage_part(
                chosen[places], most=most, hidden=hides
            )
        return found

    def window_part(self, rows: Rows) -> Tensor:
        """Return the question part of single windows as if they were questions, unit rows (rows, dim).

        Args:
            rows: Rows of windows, (rows,).
        """
        own = torch.arange(len(rows), device=self.backbone.device)
        states, key = self._read(rows, own, torch.zeros(len(rows), dtype=torch.bool, device=own.device))
        sums = torch.zeros(len(rows), self.backbone.dim, device=own.device).index_add(0, key // _SENTENCES, states)
        return normalize(normalize(sums, dim=1) - self.centre, dim=1)

    def states(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Return states of padded rows of tokens, (rows, tokens, dim)."""
        with torch.autocast(self.backbone.device.type, torch.bfloat16, enabled=self._half):
            states: Tensor = self.backbone({"input_ids": ids, "attention_mask": mask.long()})
        return states.float()

    def _read(self, rows: Rows, place: Tensor, hides: Tensor) -> tuple[Tensor, Tensor]:
        """Return the states of windows' tokens, (tokens, dim), and each token's sentence among those of all passages.

        Args:
            rows: Rows of windows, (rows,).
            place: Place of each one's passage, (rows,).
            hides: Whether each passage's title and headings are hidden, (passages,).
        """
        longest = int(self.windows.lengths[rows].max())
        width = min(-(-longest // _ROUND) * _ROUND, self.windows.ids.shape[1])
        at = torch.from_numpy(rows).to(self.backbone.device)
        ids, sentence = self.windows.ids[at, :width].long(), self.windows.sentence[at, :width].long()
        lengths = torch.from_numpy(self.windows.lengths[rows]).to(at.device).unsqueeze(1)
        hidden = hides[place].unsqueeze(1) & (sentence == 0)
        mask = (torch.arange(width, device=at.device) < lengths) & ~hidden
        inside = (sentence >= 0) & ~hidden
        key = place.unsqueeze(1) * _SENTENCES + sentence
        return self.states(ids, mask)[inside], key[inside]


def label_of(document: Document, passage: Passage) -> list[str]:
    """Return title and headings of a passage as one sentence, as the encoder reads them; none if it lacks them."""
    names = [name for name in (document.title, *passage.above, passage.heading) if name.strip()]
    return [f"{'. '.join(dict.fromkeys(names))}."] if names and passage.sentences else []


def _passages(documents: Sequence[Document]) -> Iterator[tuple[Document, Passage]]:
    return ((document, passage) for document in documents for passage in document.passages)
