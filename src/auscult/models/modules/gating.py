"""Term gating (guo2016, yang2016): how much each word of a query counts."""

from __future__ import annotations

from torch import Tensor, nn

from auscult.models.modules.interaction import masked_softmax


class TermGate(nn.Module):
    """Weights that sum to 1 over the words of a query: softmax over words of w . x.

    Args:
        width: Length of what is known of a word, x: its vector's, or 1 for its idf.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Linear(width, 1, bias=False)

    def forward(self, words: Tensor, mask: Tensor) -> Tensor:
        """Weights, (batch, query words), 0 where no word is.

        Args:
            words: (batch, query words, width).
            mask: Bool, (batch, query words).
        """
        return masked_softmax(self.weight(words).squeeze(-1), mask, dim=1)


__all__ = ["TermGate"]
