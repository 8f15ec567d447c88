"""HAR, a hierarchical attention ranker, and its two ablations (zhu2019).

    U^q = BiGRU_Q(query), U^i = BiGRU_D(sentence i)                                     Eq. 1, 2
    V^i = cross attention of U^i and U^q                                                Eq. 3-8
    z = inner attention over U^q                                                        Eq. 9-11
    x^i = inner attention over the words V^i, y = inner attention over the x^i          Eq. 12-17
    score = feed-forward(z ⊙ (W y + b))                                                 Eq. 18-20

HAR-WCA leaves out cross attention: V^i is U^i. HAR-simple also leaves out the hierarchy: one BiGRU and one inner
attention read the whole passage (both section 5.5.1). These two pool a passage without the query, so `encode_passage`
returns its vector; for HAR it returns the BiGRU's states. `match` compares them with queries.

Cost: one step of a GRU per word and direction. For HAR, also 4 attention_dim * 2 gru_dim multiplications per word of
each pair of query and passage (Eq. 12), which is most of it. Only existing sentences are computed.

Departures, and choices where the paper is silent:
- Eq. 20 has one layer, section 5.3 three. Here there are three; the hidden ones have the width of z and a ReLU, which
  the paper does not specify. `score_layers` 1 gives Eq. 20.
- "Dropout after each layer": of word vectors, encoder states, the cross attention's output, every pooled vector, the
  output of Eq. 18 and the hidden layers. Separate masks before query and passage meet make equal words differ; use
  `reading_dropout` 0 or `tied_dropout` to avoid that.
- A sentence over 15 words is cut into pieces of 15, the last one shorter; the paper does not say where it cuts.
- Word vectors are not trained unless `train_words` is set; the paper does not say.
- Most recorded trainings have four partly relevant negatives (two of the same entity, two that BM25 ranks high) and one
  random one; section 5.3 has three and six. They use Adam with a rate of 0.001, the best of four on validation, and
  clip gradients to a norm of 5; the paper uses Adadelta with a rate of 2. Word vectors have 128 numbers, trained on a
  few thousand pages; the paper's are GloVe with 300.
- `likeness` initialises the score as a similarity of words (a departure, "HAR, likeness"). With PyTorch's initial
  weights, a word's product with itself has random signs in w_c, in the two encoders and in Eq. 18 to 20. With
  `likeness`, both encoders begin with the same weights, and S as a scaled inner product. One row of W_d1 and of W_d2
  begins with the similarities U * A_D2Q. Eq. 18 begins by selecting U from y, and the score as a sum. All weights are
  trained from there.
- "HAR, longer" has zhu2019's nine negatives, no dropout before query and passage meet, and 3,750 steps in half
  precision; the rows of 10,000 steps have the same.
- Recorded trainings learn from titles and headings and are tested on entity and aspects; the paper has questions by
  people. Any passage that does not answer is irrelevant; the paper takes passages of very low relevance.
- Eq. 7 is S_D2Q · S_Q2D^T · U with the passage's own states U, as printed; both matrices are (words, query words).
- The attention layers have no bias, as in the equations. The pooled query has the length of a state. The paper's
  "dimension A of the pooled representation" is read as the 300 rows of W_q, W_d1 and W_d2.
- The original was written in Keras, whose GRU then applied the reset gate before the recurrent product and had one
  bias per gate; PyTorch's applies it after the product and has two. Initial weights are PyTorch's.
- The caption of Figure 7 and section 5.4.3 call the sentence attention level 2 and level 1; it is that of Eq. 15-17.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from auscult.errors import ConfigError
from auscult_lab.modules.attention import CrossAttention, HierarchicalAttention, InnerAttention, Pooled
from auscult_lab.modules.recurrent import BidirectionalGru
from auscult_lab.modules.vocabulary import Vocabulary, WordEmbedding
from auscult_lab.rankers.base import Encoded, RankerConfig, ReadsPassagesAlone, Tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class HarSimpleConfig(RankerConfig):
    """Settings of `HarSimple`; the defaults are section 5.3's. `max_passage_words` is its 20 sentences of 15 words.

    Attributes:
        gru_dim: Length of each direction's state.
        attention_dim: Hidden length of every inner attention.
        score_layers: Layers of the feed-forward network for the score.
        dropout: Dropout after each layer from the cross attention on, and in the score.
        reading_dropout: Dropout of word vectors and of the encoders' states, before query and passage meet.
        tied_dropout: Drop the same numbers of all words of both texts there, so that equal words stay equal (a
            departure).
        train_words: Train the word vectors too.
        one_encoder: Read queries and passages with the same BiGRU, so that a word has similar states in both from the
            first step on (a departure, for ablation).
        likeness: Initialise the score as a similarity of words (a departure, see above).
    """

    max_query_words: int = 15
    gru_dim: int = 150
    attention_dim: int = 300
    score_layers: int = 3
    dropout: float = 0.2
    reading_dropout: float = 0.2
    tied_dropout: bool = False
    train_words: bool = False
    one_encoder: bool = False
    likeness: bool = False


_SHARPNESS = 8.0
"""What attention gives for a word that is in both texts, where a model begins as a likeness of words."""
_SAMPLE = 1000
"""Words whose states say how long states are at first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HarConfig(HarSimpleConfig):
    """Settings of `Har` and `HarWca`; the defaults are section 5.3's.

    Attributes:
        max_sentences: Limit of sentences per passage, after splitting long ones.
        max_sentence_words: Longer sentences are split.
    """

    max_sentences: int = 20
    max_sentence_words: int = 15


class Piece(NamedTuple):
    """A row of a passage's layout: words `start` to `end` (exclusive) of one of its sentences."""

    sentence: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class HarEvidence:
    """A ranker's attention weights: 0 at padding, with sum 1.

    Attributes:
        query_words: Alpha^q, Eq. 10: (batch, query words).
        sentences: Beta, Eq. 16: (batch, laid-out sentences); `pieces` gives the sentence of each.
        words: Alpha^d, Eq. 13: (batch, laid-out sentences, words), with sum 1 in each sentence.
    """

    query_words: Tensor
    sentences: Tensor
    words: Tensor


@dataclass(frozen=True, slots=True)
class EncodedSentences:
    """`Har`'s states of passages' words, which need no query, for real sentences only.

    Attributes:
        states: U, Eq. 2: (real sentences, words, 2 * gru_dim), passage by passage.
        mask: Bool, (real sentences, words).
        present: Bool, (batch, sentences): True for real sentences.
    """

    states: Tensor
    mask: Tensor
    present: Tensor

    def __getitem__(self, rows: Tensor) -> EncodedSentences:
        """Return selected passages of the batch; they may be repeated."""
        number = self.present.flatten().cumsum(0).view_as(self.present) - 1
        chosen = number[rows][self.present[rows]]
        return EncodedSentences(self.states[chosen], self.mask[chosen], self.present[rows])


class _AttentionRanker(ReadsPassagesAlone[Encoded]):
    """Base of the three rankers: words, encoders, the query's attention, and the score."""

    def __init__(self, config: HarSimpleConfig, vocabulary: Vocabulary, passage_dim: int) -> None:
        super().__init__()
        dim = 2 * config.gru_dim
        self.config = config
        self.words = WordEmbedding(vocabulary, trainable=config.train_words)
        self.query_encoder = BidirectionalGru(self.words.dim, config.gru_dim)
        self.passage_encoder = (
            self.query_encoder if config.one_encoder else BidirectionalGru(self.words.dim, config.gru_dim)
        )
        self.query_attention = InnerAttention(dim, config.attention_dim, dropout=config.dropout)
        self.narrow = nn.Linear(passage_dim, dim)
        self.score = _score_network(dim, config.score_layers, config.dropout)
        self.dropout = nn.Dropout(config.dropout)
        self.word_dropout = reading_dropout(config.reading_dropout, tied=config.tied_dropout)
        self.state_dropout = reading_dropout(config.reading_dropout, tied=config.tied_dropout)
        if config.likeness:
            self._begin_as_likeness()

    def _begin_as_likeness(self) -> None:
        """Set weights so that the score is the similarity of the pooled texts."""
        self.passage_encoder.load_state_dict(self.query_encoder.state_dict())
        layers = [layer for layer in self.score if isinstance(layer, nn.Linear)]
        with torch.no_grad():
            self.narrow.bias.zero_()
            self.narrow.weight.zero_().fill_diagonal_(1.0)
            for layer in layers:
                layer.bias.zero_()
                layer.weight.zero_().fill_diagonal_(1.0)
            layers[-1].weight.fill_(_SHARPNESS * self._likeness_scale())

    def _likeness_scale(self) -> float:
        """Return a factor that makes the inner product of a word's initial state with itself about 1."""
        words = torch.arange(1, min(_SAMPLE + 1, len(self.words.rows))).unsqueeze(1)
        with torch.no_grad():
            states = self.query_encoder(self.words(words), torch.ones_like(words, dtype=torch.bool))
        return 1.0 / max(float(states.square().sum(dim=-1).mean()), 1e-6)

    def forward(self, query: Tokens, passage: Tokens) -> Tensor:
        """See `Ranker.forward`."""
        for each in (self.word_dropout, self.state_dropout):
            if isinstance(each, TiedDropout):
                each.draw()
        return super().forward(query, passage)

    def _states(self, encoder: BidirectionalGru, ids: Tensor, mask: Tensor) -> Tensor:
        """Return states (Eq. 1 and 2): word ids (rows, words) to (rows, words, 2 * gru_dim)."""
        states: Tensor = self.state_dropout(encoder(self.word_dropout(self.words(ids)), mask))
        return states

    def _query(self, query: Tokens) -> tuple[Tensor, Tensor, Tensor]:
        """Return states (batch, words, dim), their sum (batch, dim) and weights (batch, words): Eq. 1 and 9 to 11."""
        states = self._states(self.query_encoder, query.ids, query.mask)
        pooled, weights = self.query_attention(states, query.mask)
        return states, pooled, weights

    def _sentences(self, passage: Tokens) -> EncodedSentences:
        present = passage.mask.any(dim=-1)
        mask = passage.mask[present]
        return EncodedSentences(self._states(self.passage_encoder, passage.ids[present], mask), mask, present)

    def _compare(self, query: Tensor, passage: Tensor) -> Tensor:
        """Return scores, (batch,), of pooled queries and passages: Eq. 18 to 20."""
        scores: Tensor = self.score(query * self.dropout(self.narrow(passage))).squeeze(-1)
        return scores


class _SentenceRanker(_AttentionRanker[Encoded]):
    """Base of rankers that read a passage by sentence, with attention over sentences."""

    config: HarConfig

    def pieces(self, sentences: Sequence[Sequence[int]]) -> list[Piece]:
        """Return the rows of a passage's sentences in its layout."""
        size, rows, left = self.config.max_sentence_words, [], self.config.max_passage_words
        for number, sentence in enumerate(sentences):
            read = min(len(sentence), left)
            rows += [Piece(number, start, min(start + size, read)) for start in range(0, read, size)]
            left -= read
        return rows[: self.config.max_sentences]

    def lay_out_passage(self, sentences: Sequence[Sequence[int]]) -> Tensor:
        """Return a passage's word ids, (sentences, words): long sentences split, empty ones left out, all cut."""
        pieces = self.pieces(sentences)
        ids = torch.zeros(len(pieces), max((each.end - each.start for each in pieces), default=0), dtype=torch.long)
        for row, (number, start, end) in enumerate(pieces):
            ids[row, : end - start] = torch.tensor(sentences[number][start:end], dtype=torch.long)
        return ids

    def explain(self, query: Tokens, passage: Tokens) -> HarEvidence:
        """Return attention weights (section 5.4.3), without dropout, whatever the mode, and without gradients."""
        training = self.training
        self.eval()
        try:
            with torch.no_grad():
                states, _, query_words = self._query(query)
                pooled = self._pool(states, query.mask, self._sentences(passage))
        finally:
            self.train(training)
        return HarEvidence(query_words, pooled.sentences, pooled.words)

    @abstractmethod
    def _pool(self, query: Tensor, query_mask: Tensor, sentences: EncodedSentences) -> Pooled:
        """Return passages, and both levels' attention, from the states of the query and of the sentences."""


class Har(_SentenceRanker[EncodedSentences]):
    """Hierarchical attention retrieval."""

    kind = "har"
    title = "HAR"
    keeps_passages = False

    def __init__(self, config: HarConfig, vocabulary: Vocabulary) -> None:
        dim = 2 * config.gru_dim
        super().__init__(config, vocabulary, passage_dim=4 * dim)
        self.cross = CrossAttention(dim)
        self.levels = HierarchicalAttention(4 * dim, config.attention_dim, dropout=config.dropout)
        if config.likeness:
            self._attend_to_likeness(dim)

    def _attend_to_likeness(self, dim: int) -> None:
        """Set attention so that a word's weight is its similarity to the query's words."""
        scale = self._likeness_scale()
        self.cross.begin_as_likeness(_SHARPNESS * scale)
        for level in (self.levels.words, self.levels.sentences):
            level.begin_as_likeness(slice(2 * dim, 3 * dim), scale, _SHARPNESS)

    def encode_passage(self, passage: Tokens) -> EncodedSentences:
        """Return the states of the passages' words, Eq. 2."""
        return self._sentences(passage)

    def match(self, query: Tokens, encoded: EncodedSentences) -> Tensor:
        """See `ReadsPassagesAlone.match`."""
        states, asked, _ = self._query(query)
        return self._compare(asked, self._pool(states, query.mask, encoded).passages)

    def _pool(self, query: Tensor, query_mask: Tensor, sentences: EncodedSentences) -> Pooled:
        owner = sentences.present.nonzero()[:, 0]
        fused = self.dropout(self.cross(query[owner], query_mask[owner], sentences.states, sentences.mask))
        pooled: Pooled = self.levels(fused, sentences.mask, sentences.present)
        return pooled


class HarWca(_SentenceRanker[Tensor]):
    """HAR without cross attention."""

    kind = "har-wca"
    title = "HAR-WCA"

    def __init__(self, config: HarConfig, vocabulary: Vocabulary) -> None:
        dim = 2 * config.gru_dim
        super().__init__(config, vocabulary, passage_dim=dim)
        self.levels = HierarchicalAttention(dim, config.attention_dim, dropout=config.dropout)

    def encode_passage(self, passage: Tokens) -> Tensor:
        """Return the pooled passages, (batch, 2 * gru_dim)."""
        sentences = self._sentences(passage)
        pooled: Pooled = self.levels(sentences.states, sentences.mask, sentences.present)
        return pooled.passages

    def match(self, query: Tokens, encoded: Tensor) -> Tensor:
        """See `ReadsPassagesAlone.match`."""
        return self._compare(self._query(query)[1], encoded)

    def _pool(self, query: Tensor, query_mask: Tensor, sentences: EncodedSentences) -> Pooled:
        pooled: Pooled = self.levels(sentences.states, sentences.mask, sentences.present)
        return pooled


class HarSimple(_AttentionRanker[Tensor]):
    """HAR without cross attention and without sentences."""

    kind = "har-simple"
    title = "HAR-simple"

    def __init__(self, config: HarSimpleConfig, vocabulary: Vocabulary) -> None:
        super().__init__(config, vocabulary, passage_dim=2 * config.gru_dim)
        self.passage_attention = InnerAttention(2 * config.gru_dim, config.attention_dim, dropout=config.dropout)

    def encode_passage(self, passage: Tokens) -> Tensor:
        """Return the pooled passages, (batch, 2 * gru_dim)."""
        states = self._states(self.passage_encoder, passage.ids, passage.mask)
        pooled: Tensor = self.passage_attention(states, passage.mask)[0]
        return pooled

    def match(self, query: Tokens, encoded: Tensor) -> Tensor:
        """See `ReadsPassagesAlone.match`."""
        return self._compare(self._query(query)[1], encoded)


class TiedDropout(nn.Module):
    """Dropout whose mask all vectors share until the next is drawn.

    Args:
        share: Share of a vector's numbers that are dropped.
    """

    def __init__(self, share: float) -> None:
        super().__init__()
        self._share = share
        self._mask: Tensor | None = None

    def draw(self) -> None:
        """Use a new mask from now on; it is drawn with the next vectors."""
        self._mask = None

    def forward(self, vectors: Tensor) -> Tensor:
        """Return vectors (..., dim) with the same numbers set to 0, the others scaled up; unchanged in evaluation."""
        if not self.training:
            return vectors
        if self._mask is None:
            ones = torch.ones(vectors.shape[-1], dtype=vectors.dtype, device=vectors.device)
            self._mask = nn.functional.dropout(ones, self._share)
        return vectors * self._mask


def reading_dropout(share: float, *, tied: bool) -> nn.Module:
    """Return the dropout before query and passage meet, separate for each text or tied."""
    return TiedDropout(share) if tied else nn.Dropout(share)


def _score_network(dim: int, layers: int, dropout: float) -> nn.Sequential:
    """Return layers of one width, with ReLU and dropout between them, and a single output."""
    if layers < 1:
        raise ConfigError("one or more score_layers", str(layers), "correct the experiment's model settings")
    hidden = [part for _ in range(layers - 1) for part in (nn.Linear(dim, dim), nn.ReLU(), nn.Dropout(dropout))]
    return nn.Sequential(*hidden, nn.Linear(dim, 1))
