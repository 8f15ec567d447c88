"""HAR, a hierarchical attention ranker, and its two ablations (zhu2019).

    U^q = BiGRU_Q(query), U^i = BiGRU_D(sentence i)                                     Eq. 1, 2
    V^i = cross attention of U^i and U^q                                                Eq. 3-8
    z = inner attention over U^q                                                        Eq. 9-11
    x^i = inner attention over the words V^i, y = inner attention over the x^i          Eq. 12-17
    score = feed-forward(z ⊙ (W y + b))                                                 Eq. 18-20

HAR-WCA leaves out cross attention: V^i is U^i. HAR-simple also leaves out the hierarchy: the whole passage runs
through one BiGRU and one inner attention (both section 5.5.1). They pool a passage without the query, so it may be kept
whole; of HAR's, the BiGRU's states may. That is what `encode_passage` makes and `match` compares with queries.

Cost: one step of a GRU for each word and direction, and for HAR 4 attention_dim * 2 gru_dim multiplications for each
word of each pair of query and passage (Eq. 12), which is most of it. Only sentences that exist are computed.

Departures and silences:
- Eq. 20 has one layer, section 5.3 says three. Three it is; the hidden ones have the width of z and a ReLU, of which
  the paper says nothing. Setting `score_layers` to 1 gives Eq. 20.
- "Dropout after each layer": of word vectors, encoder states, the cross attention's output, every pooled vector, the
  output of Eq. 18 and the hidden layers. Before query and passage meet, a mask each makes a word another one in both;
  `reading_dropout` 0 or `tied_dropout` spares that.
- A sentence over 15 words is cut into runs of 15, the last one shorter; the paper does not say where it cuts.
- Word vectors are not trained unless `train_words` is set; the paper does not say.
- The recorded trainings have four wrong passages that are partly relevant (two of the same entity, two that BM25 ranks
  high) and one at random, where section 5.3 has three and six; Adam with a rate of 0.001, the best of four on
  validation, and gradients cut to a norm of 5, where it has Adadelta with a rate of 2; and 128 numbers a word, trained
  on a few thousand pages, where it has GloVe with 300.
- `likeness` begins as a likeness of words (a departure, "HAR, likeness"). PyTorch's initial weights give a word's
  product with itself random signs: in w_c, in the two encoders and in Eq. 18 to 20. With it both encoders begin with
  the same weights, and S as a scaled inner product. One row of W_d1 and of W_d2 begins with what is alike, U * A_D2Q.
  Eq. 18 begins by taking U from y, and the score as a sum. All of it is trained from there.
- "HAR, longer" has zhu2019's nine wrong passages, no dropout of what is read, and 3,750 steps in half precision.
- Recorded trainings learn from titles and headings and are asked entity and aspects, where the paper has questions
  that people wrote. An irrelevant passage is any that does not answer; the paper takes those of very low relevance.
- Eq. 7 is S_D2Q · S_Q2D^T · U with the passage's own states U, as printed. The formula's reader should note that both
  matrices are (words, query words).
- The attention layers have no bias, as in the equations. The pooled query has the length of a state; the paper's
  "dimension A of the pooled representation" is taken for the 300 rows of W_q, W_d1 and W_d2.
- The original was written in Keras, whose GRU then applied the reset gate before the recurrent product and had one
  bias a gate; PyTorch's applies it after the product and has two. Initial weights are PyTorch's.
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
        score_layers: Layers of the feed-forward network that makes the score.
        dropout: After each layer from the cross attention on, and in the score.
        reading_dropout: Of word vectors and of the encoders' states: before query and passage meet.
        tied_dropout: Drop the same numbers of all words of both texts there, so that a word stays alike in both (a
            departure).
        train_words: Train the word vectors too.
        one_encoder: Read queries and passages with the same BiGRU, so that a word has alike states in both from the
            first step on (a departure, for ablation).
        likeness: Begin as a likeness of words (a departure, see above).
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
        max_sentences: Further sentences of a passage are not read, counted after long ones are split.
        max_sentence_words: Longer sentences are split.
    """

    max_sentences: int = 20
    max_sentence_words: int = 15


class Piece(NamedTuple):
    """A row of a passage as it is laid out: words start to end (exclusive) of one of its sentences."""

    sentence: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class HarEvidence:
    """Where a ranker looked: attention weights, 0 at padding, in sum 1 over what is there.

    Attributes:
        query_words: Alpha^q, Eq. 10: (batch, query words).
        sentences: Beta, Eq. 16: (batch, laid-out sentences); `pieces` says which sentence each is a part of.
        words: Alpha^d, Eq. 13: (batch, laid-out sentences, words), in sum 1 within each sentence.
    """

    query_words: Tensor
    sentences: Tensor
    words: Tensor


@dataclass(frozen=True, slots=True)
class EncodedSentences:
    """Passages as `Har` knows them without a query: the states of their words, for real sentences only.

    Attributes:
        states: U, Eq. 2: (real sentences, words, 2 * gru_dim), passage after passage.
        mask: Bool, (real sentences, words).
        present: Bool, (batch, sentences): which sentences are real.
    """

    states: Tensor
    mask: Tensor
    present: Tensor

    def __getitem__(self, rows: Tensor) -> EncodedSentences:
        """Return some passages of the batch, or some several times."""
        number = self.present.flatten().cumsum(0).view_as(self.present) - 1
        chosen = number[rows][self.present[rows]]
        return EncodedSentences(self.states[chosen], self.mask[chosen], self.present[rows])


class _AttentionRanker(ReadsPassagesAlone[Encoded]):
    """What the three share: words, encoders, the query's attention, and the score."""

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
        """Set weights by which the score is how alike the pooled texts are."""
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
        """Return what makes the inner product of a word's state with itself about 1, as the encoders begin."""
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
        """Eq. 1 and 2: word ids (rows, words) to (rows, words, 2 * gru_dim)."""
        states: Tensor = self.state_dropout(encoder(self.word_dropout(self.words(ids)), mask))
        return states

    def _query(self, query: Tokens) -> tuple[Tensor, Tensor, Tensor]:
        """Eq. 1 and 9 to 11: states (batch, words, dim), their sum (batch, dim) and its weights (batch, words)."""
        states = self._states(self.query_encoder, query.ids, query.mask)
        pooled, weights = self.query_attention(states, query.mask)
        return states, pooled, weights

    def _sentences(self, passage: Tokens) -> EncodedSentences:
        present = passage.mask.any(dim=-1)
        mask = passage.mask[present]
        return EncodedSentences(self._states(self.passage_encoder, passage.ids[present], mask), mask, present)

    def _compare(self, query: Tensor, passage: Tensor) -> Tensor:
        """Eq. 18 to 20: the pooled query and passage to (batch,)."""
        scores: Tensor = self.score(query * self.dropout(self.narrow(passage))).squeeze(-1)
        return scores


class _SentenceRanker(_AttentionRanker[Encoded]):
    """A passage read sentence by sentence, and what attention says of the sentences."""

    config: HarConfig

    def pieces(self, sentences: Sequence[Sequence[int]]) -> list[Piece]:
        """Return the rows that a passage's sentences are laid out in."""
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
        """Return where the ranker looks (section 5.4.3), without dropout, whatever its mode, and without gradients."""
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
        """Set attention by which a word matters as much as it is like the query's words."""
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
        share: Of a vector's numbers that are dropped.
    """

    def __init__(self, share: float) -> None:
        super().__init__()
        self._share = share
        self._kept: Tensor | None = None

    def draw(self) -> None:
        """Use another mask from here on; it is drawn when the first vectors come."""
        self._kept = None

    def forward(self, vectors: Tensor) -> Tensor:
        """Return vectors (..., dim) with the same numbers 0 in each, the others scaled up; in evaluation as given."""
        if not self.training:
            return vectors
        if self._kept is None:
            ones = torch.ones(vectors.shape[-1], dtype=vectors.dtype, device=vectors.device)
            self._kept = nn.functional.dropout(ones, self._share)
        return vectors * self._kept


def reading_dropout(share: float, *, tied: bool) -> nn.Module:
    """Return dropout of what is read, apart in each text or tied between them."""
    return TiedDropout(share) if tied else nn.Dropout(share)


def _score_network(dim: int, layers: int, dropout: float) -> nn.Sequential:
    """Return layers of one width with ReLU and dropout between them, and one number at the end."""
    if layers < 1:
        raise ConfigError("one or more score_layers", str(layers), "correct the experiment's model settings")
    hidden = [part for _ in range(layers - 1) for part in (nn.Linear(dim, dim), nn.ReLU(), nn.Dropout(dropout))]
    return nn.Sequential(*hidden, nn.Linear(dim, 1))
