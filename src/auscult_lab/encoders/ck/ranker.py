"""CK-HQA: context and knowledge fused in every layer, compared by cosines, ranked by a neural ranker's head (wang2021).

    C = all layers of a transformer over [CLS] q [SEP] d [SEP]      Eq. 1-3, `context`
    K = vectors of the entities that tokens name                    section 4.2, `knowledge`
    G^i = sigma(C^i Q + K U + b)                                    Algorithm 1, `heads`
    S(q, d) = head(cos(G_q^i, G_d^i) for all i; [CLS])              section 4.4, `heads`

Its variants are the paper's: B without [CLS] and knowledge, BC without knowledge, BC-W and BC-U with knowledge of one
of two graphs, SC-* on another backbone. Those without knowledge have no fusion layer either. BC-NONE, which is not in
the paper, has one and links no entity. Models without context (F, K) read the backbone's wordpiece vectors in place of
GloVe's. With `fusion: matrix` entities are compared separately instead of being summed into the tokens. The files named
above describe departures; besides, lengths count wordpieces.

Cost: one encoding of every pair, as for the cross-encoder, and L + 1 small matrices. Wordpieces and entities of a
passage are found once, before any query.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from auscult.encoders.contract import FloatArray
from auscult.errors import ConfigError, DataError, ModelError, QueryError
from auscult_lab.encoders.base import CaprConfig, PassageRanker, PassageText
from auscult_lab.encoders.ck.context import ENTITY, PIECE, Layout, lay_out, layer_states, word_states
from auscult_lab.encoders.ck.heads import Activation, CkHead, CkTrans, Fusion, HeadName, make_head
from auscult_lab.encoders.ck.knowledge import OWN, UNKNOWN, KnowledgeEncoder, make_linker
from auscult_lab.graphs.knowledge_vectors import KnowledgeVectors, load, save
from auscult_lab.graphs.linking import EntityLinker
from auscult_lab.modules.backbone import Backbone, batches, in_order, single_precision

if TYPE_CHECKING:
    from auscult_lab.encoders.scorer import CaprScorer
    from auscult_lab.rankers.scorer import RankerScorer

View = Literal["last", "mean"]


@dataclass(frozen=True, slots=True)
class Interactions:
    """The cosines of a query's and a passage's tokens, layer by layer: what a head of CK-HQA sees (wang2021, Figure 6).

    They show which tokens are similar; the score may depend on other things.

    Cost: one pair of query and passage.

    Attributes:
        score: Score of the pair; scores of different queries cannot be compared.
        query: Wordpieces of the query that were read.
        query_entities: The preferred name of each one's entity, "" where there is none.
        passage: Wordpieces of the passage that were read.
        passage_entities: The same for the passage.
        matrices: Cosines, float32 (layers, query tokens, passage tokens), the embeddings' layer first.
        entity_matrix: Cosines of entities, float32 (query tokens, passage tokens), where they are compared separately.
    """

    score: float
    query: tuple[str, ...]
    query_entities: tuple[str, ...]
    passage: tuple[str, ...]
    passage_entities: tuple[str, ...]
    matrices: FloatArray
    entity_matrix: FloatArray | None = None

    def view(self, name: View) -> FloatArray:
        """Return one matrix, (query tokens, passage tokens): the last layer's, or the mean over layers."""
        matrix: FloatArray = self.matrices[-1] if name == "last" else np.asarray(self.matrices.mean(axis=0))
        return matrix


def find_interactions(scorer: CaprScorer | RankerScorer, query: str, passage: str) -> Interactions:
    """Compare a passage with a query.

    Raises:
        ModelError: The model compares no tokens, or cannot show how.
        QueryError: The query has no words.
        DataError: The passage has no words.
    """
    ranker = scorer.ranker
    if not isinstance(ranker, CkRanker):
        raise ModelError("a model of the kind ck", f"'{ranker.kind}'", "train one: architecture: ck")
    ranker.eval()
    interactions = ranker.interactions(query, passage)
    if not interactions.query:
        raise QueryError("a query with words", repr(query), "ask in letters or digits")
    if not interactions.passage:
        raise DataError("a passage with words", repr(passage), "give another text")
    return interactions


_OWN = "knowledge"
"""What stands for the folder of vectors once a model has its own copy."""
_CACHED = 1 << 16
_STATE = 0.5
"""Components of a layer's states, as root of the mean square: 0.45 to 0.65 in layers of BERT and MiniLM."""
_BEYOND = 200
"""Letters behind the last one read that are linked with it, so that a name across the cut is known by its whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CkConfig(CaprConfig):
    """Settings of CK-HQA. Lengths are the paper's for HealthQA; for NFCorpus it has 10 and 400.

    Attributes:
        max_query_tokens: Wordpieces of a query; further ones are not read.
        max_passage_tokens: Wordpieces of a passage; further ones are not read. It may be more than the backbone reads
            at once.
        head: "knrm", "pacrr" or "drmm-tks".
        head_settings: Settings of that ranker that differ from its defaults.
        context: "layers", or "words" for the backbone's table of wordpieces alone.
        cls: Give the head the state of [CLS]; there is none with "words".
        knowledge: A folder of knowledge vectors; environment variables in it are expanded. Empty for none. A model has
            a copy of them, and "knowledge" here.
        linker: Name of the entity linker (see `knowledge`): "ngram"; "none" for a model with the fusion layer and
            without entities.
        train_knowledge: Train the entities' vectors further.
        fusion: How knowledge joins context: "sum" as in Algorithm 1, or "matrix" for a matrix of the entities' own
            cosines beside the layers' (a departure, see `heads`).
        joint_dim: D_j, where there is a sum; None for D_c, the smallest that keeps the whole context. In a model, the
            number.
        activation: Sigma of Algorithm 1, where there is a sum: "tanh" or "logistic".
    """

    max_query_tokens: int = 15
    max_passage_tokens: int = 300
    head: HeadName = "knrm"
    head_settings: Mapping[str, Any] = field(default_factory=dict)
    context: Literal["layers", "words"] = "layers"
    cls: bool = True
    knowledge: str = ""
    linker: str = "ngram"
    train_knowledge: bool = False
    fusion: Fusion = "sum"
    joint_dim: int | None = None
    activation: Activation = "tanh"

    def __post_init__(self) -> None:
        """Check the values; one out of range is a `ConfigError`."""
        CaprConfig.__post_init__(self)
        mend = "correct the experiment file"
        if self.cosine or self.pooling != "cls":
            raise ConfigError("neither 'cosine' nor another 'pooling' for 'ck', which pools nothing", "one", mend)
        for name, choices in (
            ("context", ("layers", "words")),
            ("activation", ("tanh", "logistic")),
            ("fusion", ("sum", "matrix")),
        ):
            if getattr(self, name) not in choices:
                raise ConfigError(f"{name} '{choices[0]}' or '{choices[1]}'", repr(getattr(self, name)), mend)
        if self.cls and self.context == "words":
            raise ConfigError("cls: false with context 'words', which has no [CLS]", "cls: true", mend)
        for name, changed in (
            ("train_knowledge", self.train_knowledge),
            ("linker", self.linker != "ngram"),
            ("fusion", self.fusion != "sum"),
        ):
            if changed and not self.knowledge:
                raise ConfigError(f"'knowledge' where '{name}' is set", "none", "name a folder of vectors")
        if self.joint_dim is not None and self.joint_dim < 1:
            raise ConfigError("a joint_dim of 1 or more", str(self.joint_dim), mend)
        if self.fusion == "matrix" and self.joint_dim is not None:
            raise ConfigError("no joint_dim with fusion 'matrix', which joins no vectors", str(self.joint_dim), mend)
        make_head(self.head, self.head_settings, matrices=1, query_dim=1, context_width=0)


class CkRanker(PassageRanker):
    """CK-HQA.

    Args:
        config: Settings.
        pairs: The encoder of pairs.
        knowledge: Vectors of a graph; None to read them from the settings' folder.
        linker: Entity linker of the graph; None to make the one that settings name. Only this name is saved, so
            `knowledge.register` must know it before the saved model is opened.

    Raises:
        ConfigError: The folder's name has a variable that is not set, or a given linker has the name of a built-in one.
        ModelError: The folder has no vectors, or no linker has the settings' name.
    """

    kind: ClassVar[str] = "ck"
    title: ClassVar[str] = "CK-HQA"
    plain: ClassVar[bool] = False
    config: CkConfig
    head: CkHead

    def __init__(
        self,
        config: CkConfig,
        pairs: Backbone,
        knowledge: KnowledgeVectors | None = None,
        *,
        linker: EntityLinker | None = None,
    ) -> None:
        super().__init__()
        if linker is not None and config.linker in OWN:
            expected = "a name of its own in the settings' 'linker' for the linker that is given"
            raise ConfigError(expected, repr(config.linker), "choose another name")
        if knowledge is None and config.knowledge:
            folder = os.path.expandvars(config.knowledge)
            if "$" in folder:
                raise ConfigError("a folder whose variables are set", f"knowledge: {folder}", "export the variable")
            knowledge = load(Path(folder).expanduser())
        if knowledge is not None:
            joint_dim = (config.joint_dim or _width(config, pairs)) if config.fusion == "sum" else None
            config = replace(config, knowledge=_OWN, joint_dim=joint_dim)
        self.config = config
        self.pairs = pairs
        self.knowledge = knowledge
        by_layers = config.context == "layers"
        width = query_dim = _width(config, pairs)
        encoder = fusion = None
        if knowledge is not None:
            linker = make_linker(config.linker, knowledge) if linker is None else linker
            encoder = KnowledgeEncoder(knowledge, linker, trainable=config.train_knowledge)
        if encoder is not None and config.fusion == "sum":
            length = _STATE * width**0.5 if by_layers else float(pairs.words.weight.detach().norm(dim=1).mean())
            query_dim = config.joint_dim or width
            fusion = CkTrans((width, length), (encoder.dim, encoder.length), query_dim, config.activation)
        layers = pairs.depth + 1 if by_layers else 1
        ranking = make_head(
            config.head,
            config.head_settings,
            matrices=layers + (encoder is not None and fusion is None),
            query_dim=query_dim,
            context_width=pairs.dim if config.cls else 0,
        )
        self.head = CkHead(ranking, fusion, encoder, reads_mark=config.cls)
        if config.context == "words":
            pairs.requires_grad_(False)
            pairs.words.requires_grad_(True)
        self._read_before: dict[tuple[str, int], Tensor] = {}

    def backbones(self) -> dict[str, Backbone]:
        """Return the encoder: "pairs"."""
        return {"pairs": self.pairs}

    def attachments(self) -> dict[str, Callable[[Path], None]]:
        """Return the graph's vectors and names."""
        vectors = self.knowledge
        return {} if vectors is None else {_OWN: lambda folder: save(vectors, folder)}

    def score_lists(
        self, queries: Sequence[str], passages: Sequence[PassageText], rows: Tensor, *, chunk: int | None = None
    ) -> Tensor:
        """See `PassageRanker`: one reading for each entry of `rows`."""
        asked, kept = [self._query(query) for query in queries], self.keep(passages)
        pairs = [(asked[row], kept[column]) for row, columns in enumerate(rows.tolist()) for column in columns]
        return self._score(pairs, chunk, forgetful=chunk is not None).view(rows.shape)

    def keep(self, passages: Sequence[PassageText]) -> list[Tensor]:
        """Return wordpieces and entities of passages, each int32 (2, tokens)."""
        return [self._read(passage.text, self.config.max_passage_tokens) for passage in passages]

    def score_kept(self, query: str, kept: Sequence[Tensor]) -> Tensor:  # type: ignore[override]
        """Return scores of passages as `keep` returned them, float32 (passages,), on the processor."""
        tokens = self._query(query)
        with torch.no_grad():
            return self._score([(tokens, passage) for passage in kept], self.batch_size).cpu()

    def interactions(self, query: str, passage: str) -> Interactions:
        """Return the cosines of all tokens of a query and a passage, in every layer."""
        query_tokens = self._query(query)
        passage_tokens = self._read(passage, self.config.max_passage_tokens)
        layout = lay_out([(query_tokens, passage_tokens)], self.pairs).to(self.pairs.device)
        with torch.no_grad():
            states = self._states(layout)
            similarities, _ = self.head.compare(states, layout)
            score = self.head(states, layout)
        cosines = similarities[0, :, : query_tokens.shape[1], : passage_tokens.shape[1]].cpu().numpy()
        matrices, entity_matrix = cosines[: len(states)], cosines[len(states)] if len(cosines) > len(states) else None
        names = self.knowledge.names if self.knowledge is not None else ()
        words = [
            tuple(self.pairs.tokenizer.convert_ids_to_tokens(text[PIECE].tolist()))
            for text in (query_tokens, passage_tokens)
        ]
        named = [
            tuple("" if row == UNKNOWN else names[row - 1][0] for row in text[ENTITY].tolist())
            for text in (query_tokens, passage_tokens)
        ]
        return Interactions(float(score), words[0], named[0], words[1], named[1], matrices, entity_matrix)

    def _query(self, query: str) -> Tensor:
        # A query as long as the backbone's limit would leave no room for a passage.
        return self._read(query, min(self.config.max_query_tokens, self.pairs.limit // 2))

    def _read(self, text: str, limit: int) -> Tensor:
        """Return wordpieces and entities of a text's beginning, int32 (2, tokens); cached per text."""
        if (read := self._read_before.get((text, limit))) is None:
            pieces, offsets = self.pairs.pieces(text, limit)
            linked = text[: offsets[-1][1] + _BEYOND] if offsets else ""
            encoder = self.head.knowledge
            entities = [UNKNOWN] * len(pieces) if encoder is None else encoder.align(linked, offsets)
            read = torch.tensor([pieces, entities], dtype=torch.int32)
            if len(self._read_before) >= _CACHED:
                self._read_before.pop(next(iter(self._read_before)))
            self._read_before[text, limit] = read
        return read

    def _score(self, pairs: Sequence[tuple[Tensor, Tensor]], size: int | None, *, forgetful: bool = False) -> Tensor:
        """Return scores of pairs, (pairs,)."""

        def score(*tensors: Tensor) -> Tensor:
            layout = Layout(*tensors)
            states = self._states(layout)
            with single_precision(states[0]):
                scores: Tensor = self.head(states, layout)
            return scores

        def score_batch(batch: list[int]) -> Tensor:
            # As tensors: checkpointing infers from their device which random state to restore.
            given = lay_out([pairs[row] for row in batch], self.pairs).to(self.pairs.device).tensors()
            scores: Tensor = checkpoint(score, *given, use_reentrant=False) if forgetful else score(*given)
            return scores

        dealt = batches([query.shape[1] + passage.shape[1] for query, passage in pairs], size)
        return in_order((batch, score_batch(batch)) for batch in dealt)

    def _states(self, layout: Layout) -> list[Tensor]:
        read = layer_states if self.config.context == "layers" else word_states
        return [layer.float() for layer in read(self.pairs, layout)]


def _width(config: CkConfig, pairs: Backbone) -> int:
    """Return D_c; the table of wordpieces is narrower than the layers in some encoders (ALBERT, ELECTRA)."""
    return pairs.dim if config.context == "layers" else pairs.words.embedding_dim
