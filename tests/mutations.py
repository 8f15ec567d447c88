"""Faults that the tests must notice: of each a line of the code, what it becomes, and the tests that then have to fail.

`make mutants` puts them in one at a time (`mutants.py`). Every formula that a figure hangs on should have one here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Mutation:
    """One fault.

    Attributes:
        name: What is wrong then.
        file: Module, as it is imported.
        before: Text that stands there exactly once.
        after: What it becomes.
        tests: At least one of them has to fail; files or tests, below `tests`.
    """

    name: str
    file: str
    before: str
    after: str
    tests: tuple[str, ...]

    def faults(self, sources: Sequence[Path], tests: Path) -> Iterator[str]:
        """Why this is no mutation (any more), in words; nothing where it is one."""
        files = [source / self.file for source in sources]
        found = sum(file.read_text(encoding="utf-8").count(self.before) for file in files if file.is_file())
        if found != 1:
            yield f"{self.name}: found {found} times in {self.file}: {self.before!r}"
        if self.before == self.after:
            yield f"{self.name}: changes nothing"
        for test in self.tests:
            path, _, function = test.partition("::")
            if not (tests / path).is_file() or f"def {function}" not in (tests / path).read_text(encoding="utf-8"):
                yield f"{self.name}: there is no test {test}"


GOLDEN = ("lab/cdv/test_cdv_golden.py",)
TARGETS = ("lab/cdv/test_golden.py",)
LOSSES = ("lab/training/test_losses.py",)

CDV = (
    Mutation(
        "Eq. 2: one Bloom hash by default", "auscult_lab/cdv/spaces.py",
        "hashes: int = 5", "hashes: int = 1", GOLDEN,
    ),
    Mutation("Eq. 2: one Bloom hash for five", "auscult_lab/cdv/spaces.py", "in range(hashes)", "in range(1)", GOLDEN),
    Mutation(
        "Eq. 2: no tanh in the dense layer", "auscult_lab/cdv/spaces.py",
        "torch.tanh(self.dense(self.dropout(self.embed(words))))", "self.dense(self.dropout(self.embed(words)))",
        GOLDEN,
    ),
    Mutation(
        "Eq. 4: the last states of both directions", "auscult_lab/modules/recurrent.py",
        "lengths - 1], back[:, 0]", "lengths - 1], back[torch.arange(len(lengths)), lengths - 1]", GOLDEN,
    ),
    Mutation(
        "Eq. 5: sum for mean", "auscult_lab/cdv/bloom_training.py",
        "sums[place] / sizes[place]", "sums[place]", TARGETS,
    ),
    Mutation(
        "Eq. 5: an unseen entity has no vector", "auscult_lab/cdv/spaces.py",
        "            return self.known[known]\n        vector: FloatArray = self.embed([text])[0]\n",
        "            return self.known[known]\n        vector = np.zeros(self.dim, np.float32)\n", GOLDEN,
    ),
    Mutation(
        "Eq. 8: words without a vector count", "auscult_lab/modules/word_vectors.py",
        "weights=known, minlength", "weights=np.ones_like(known), minlength", GOLDEN,
    ),
    Mutation(
        "Eq. 11: no tanh", "auscult_lab/cdv/network.py",
        "normalize(torch.tanh(dense), dim=-1)", "normalize(dense, dim=-1)", GOLDEN,
    ),
    Mutation(
        "Eq. 11: normalisation before the tanh", "auscult_lab/cdv/network.py",
        "normalize(torch.tanh(dense), dim=-1)", "torch.tanh(normalize(dense, dim=-1))", GOLDEN,
    ),
    Mutation(
        "Eq. 11: no normalisation", "auscult_lab/cdv/network.py",
        "normalize(torch.tanh(dense), dim=-1)", "torch.tanh(dense)", GOLDEN,
    ),
    Mutation(
        "the departure: layer normalisation after the tanh", "auscult_lab/cdv/network.py",
        "torch.tanh(self.layer_norm(dense))", "self.layer_norm(torch.tanh(dense))", GOLDEN,
    ),
    Mutation(
        "Eq. 12: no tanh", "auscult_lab/cdv/network.py",
        "torch.tanh(decoded) if self.config.bounded else decoded", "decoded", GOLDEN,
    ),
    Mutation(
        "Eq. 13: halves at unit length unasked", "auscult_lab/cdv/encoder.py",
        "    if unit_halves:\n        halves = [", "    if True:\n        halves = [", GOLDEN,
    ),
    Mutation(
        "Eq. 14: best sentence for mean", "auscult/encoders/passages.py",
        "vectors[first:last].mean(axis=0, dtype=np.float64)", "vectors[first:last].max(axis=0)", GOLDEN,
    ),
    Mutation(
        "Eq. 14: a mean at unit length again", "auscult/encoders/passages.py",
        "            means[row] = vectors[first:last].mean(axis=0, dtype=np.float64)",
        "            means[row] = vectors[first:last].mean(axis=0, dtype=np.float64)\n"
        "            means[row] /= np.linalg.norm(means[row])", GOLDEN,
    ),
    Mutation(
        "Eq. 15: mentions are not looked for", "auscult_lab/training/labels.py",
        "    if linker is None:", "    if True:", TARGETS,
    ),
    Mutation(
        "Eq. 15: mentions do not count", "auscult_lab/cdv/data.py",
        "own + [space.place(label.key, label.name) for label in labels]", "own", TARGETS,
    ),
    Mutation(
        "Eq. 16: sum for mean of entities", "auscult_lab/cdv/data.py",
        "rows[row] = np.mean(vectors, axis=0)", "rows[row] = np.sum(vectors, axis=0)", TARGETS,
    ),
    Mutation(
        "Eq. 16: sum for mean of aspects", "auscult_lab/cdv/encoder.py",
        "np.asarray(np.mean([space.place", "np.asarray(np.sum([space.place", GOLDEN,
    ),
    Mutation(
        "Eq. 17: another width", "auscult_lab/training/losses.py",
        "distance(decoded, targets) / 4)", "distance(decoded, targets) / 2)", LOSSES,
    ),
)  # fmt: skip

TRAINING = (
    Mutation(
        "BP-MLL not divided by the unset bits", "auscult_lab/training/losses.py",
        "(1 - bits)).sum(dim=-1) / (1 - bits).sum(dim=-1)", "(1 - bits)).sum(dim=-1)", LOSSES,
    ),
    Mutation(
        "contrastive loss without its temperature", "auscult_lab/training/losses.py",
        "queries @ passages.T * temperature", "queries @ passages.T", LOSSES,
    ),
    Mutation(
        "contrastive loss against passages of the same query", "auscult_lab/training/losses.py",
        'scores = scores.masked_fill(same, float("-inf"))', "scores = scores + 0", LOSSES,
    ),
    Mutation(
        "contrastive loss: the passages' half counts whole", "auscult_lab/training/losses.py",
        "0.5 * cross_entropy(scores.T, own)", "cross_entropy(scores.T, own)", LOSSES,
    ),
    Mutation(
        "the hinge's margin on the wrong side", "auscult_lab/training/losses.py",
        "(margin - scores[:, :1] + scores[:, 1:])", "(-margin - scores[:, :1] + scores[:, 1:])", LOSSES,
    ),
    Mutation(
        "TransE: the object is added", "auscult_lab/graphs/transe.py",
        "self.relations(relation) - self.entities(object_)", "self.relations(relation) + self.entities(object_)",
        ("lab/graphs/test_transe.py::test_distance_by_loops",),
    ),
    Mutation(
        "TransE: subjects sought on the wrong side", "auscult_lab/graphs/transe.py",
        'self.entities(object_) - step if side == "head"', 'self.entities(object_) + step if side == "head"',
        ("lab/graphs/test_transe.py::test_scores_replace_each_end_by_every_entity",),
    ),
    Mutation(
        "link prediction: filtered ranks are raw", "auscult_lab/graphs/evaluation.py",
        "ranks.raw[row, column] - others", "ranks.raw[row, column]", ("lab/graphs/test_ranks.py",),
    ),
)  # fmt: skip

MODELS = (
    Mutation(
        "BM25 with another idf", "auscult_lab/scorers/lexical.py",
        'method="lucene"', 'method="atire"', ("lab/scorers/test_lexical.py",),
    ),
    Mutation(
        "BM25 blind to length", "auscult_lab/scorers/lexical.py",
        "k1=k1, b=b,", "k1=k1, b=0.0,", ("lab/scorers/test_lexical.py",),
    ),
    Mutation(
        "TF-IDF blind to length", "auscult_lab/scorers/lexical.py",
        "np.sqrt(np.maximum(terms.lengths, 1))", "np.sqrt(np.ones(len(terms.lengths)))",
        ("lab/scorers/test_lexical.py",),
    ),
    Mutation(
        "query likelihood without its length", "auscult_lab/scorers/lexical.py",
        "np.log(mu / (terms.lengths + mu))", "np.zeros(len(terms.lengths))", ("lab/scorers/test_lexical.py",),
    ),
    Mutation(
        "kernels count padding", "auscult_lab/modules/interaction.py",
        "similarities.masked_fill(~passage.unsqueeze(-2), _FAR)", "similarities",
        ("lab/rankers/test_interaction.py",),
    ),
    Mutation(
        "attention reads padding", "auscult_lab/modules/interaction.py",
        "torch.softmax(values.masked_fill(~mask, lowest), dim=dim)", "torch.softmax(values, dim=dim)",
        ("lab/rankers/test_har.py",),
    ),
    Mutation(
        "histograms: no bin for exact matches", "auscult_lab/modules/interaction.py",
        "* ((bins - 1) / 2)", "* (bins / 2)",
        ("lab/rankers/test_interaction.py::test_exact_matches_have_a_bin_of_their_own",),
    ),
    Mutation(
        "histograms: exact matches lost by rounding", "auscult_lab/modules/interaction.py",
        "(similarities + (1.0 + _SLACK))", "(similarities + 1.0)",
        ("lab/rankers/test_interaction.py::test_exact_matches_have_a_bin_of_their_own",),
    ),
    Mutation(
        "the k largest: padding before negative values", "auscult_lab/modules/interaction.py",
        "values.masked_fill(~mask, torch.finfo(values.dtype).min).topk", "values.masked_fill(~mask, 0.0).topk",
        ("lab/rankers/test_interaction.py::test_k_max_ignores_padding_and_fills_with_zeros",),
    ),
    Mutation(
        "poly-encoder attends to padding", "auscult_lab/encoders/poly.py",
        'logits.masked_fill(mask == 0, float("-inf")).softmax(dim=-1)', "logits.softmax(dim=-1)",
        ("contracts/test_passage_rankers.py::test_company_order_and_batches_never_change_a_score",),
    ),
    Mutation(
        "mean pooling over padding", "auscult_lab/modules/backbone.py",
        "(states * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1.0)", "states.mean(dim=1)",
        ("lab/encoders/test_architectures.py::test_pooling_leaves_padding_out",),
    ),
    Mutation(
        "fusion of scores as they are", "auscult/search/fusion.py",
        "(rows - rows.mean(axis=1, keepdims=True)) / np.where(spread > 0, spread, 1.0)", "rows",
        ("lab/evaluation/test_ensembles.py",),
    ),
)  # fmt: skip

EVALUATION = (
    Mutation(
        "ranking: ties go to true answers", "auscult_lab/evaluation/protocol.py",
        "np.lexsort((chance, true, -scores))", "np.lexsort((chance, ~true, -scores))",
        ("lab/evaluation/test_protocol.py",),
    ),
    Mutation(
        "ranking: ties as chance will", "auscult_lab/evaluation/protocol.py",
        "np.lexsort((chance, true, -scores))", "np.lexsort((chance, -scores))", ("lab/evaluation/test_protocol.py",),
    ),
    Mutation(
        "ranking: ties as candidates come", "auscult_lab/evaluation/protocol.py",
        "chance[by_id] = shuffle.permutation(len(by_id))", "chance[:] = shuffle.permutation(len(by_id))",
        ("lab/evaluation/test_protocol.py",),
    ),
    Mutation(
        "ranking: ties at the depth are cut unseen", "auscult_lab/evaluation/protocol.py",
        "np.flatnonzero(scores >= threshold)", "np.argsort(-scores, kind='stable')[:depth]",
        ("lab/evaluation/test_protocol.py",),
    ),
    Mutation(
        "measures: ties of a run as they come", "auscult_lab/evaluation/measures.py",
        "key=lambda row: (-ranking.scores[row], grades.get(ranking.passage_ids[row], 0))",
        "key=lambda row: -ranking.scores[row]", ("lab/evaluation/test_measures.py",),
    ),
    Mutation(
        "measures: another cut-off", "auscult_lab/evaluation/measures.py",
        '(f"AP@{cutoff}", f"P@{cutoff}", f"R@{cutoff}")',
        '(f"AP@{cutoff + 1}", f"P@{cutoff}", f"R@{cutoff}")', ("lab/evaluation/test_measures.py",),
    ),
    Mutation(
        "measures: MAP@k that cannot reach 1", "auscult_lab/evaluation/measures.py",
        "average * counts / np.minimum(counts, cutoff)", "average", ("lab/evaluation/test_measures.py",),
    ),
    Mutation(
        "measures: queries without a ranking are left out", "auscult_lab/evaluation/measures.py",
        "query_ids = tuple(qrels)", "query_ids = tuple(each for each in qrels if each in run)",
        ("lab/evaluation/test_measures.py",),
    ),
    Mutation(
        "candidates: one too many", "auscult_lab/evaluation/task.py",
        "if len(candidates) >= count", "if len(candidates) > count", ("lab/evaluation/test_candidates.py",),
    ),
    Mutation(
        "candidates: the best document's passages stay out", "auscult_lab/evaluation/task.py",
        "ranked[:1] + siblings[home[order[0]]] + ranked[1:]", "ranked", ("lab/evaluation/test_candidates.py",),
    ),
    Mutation(
        "no Holm correction", "auscult_lab/evaluation/statistics.py",
        "(len(p_values) - step) * p_values[index]", "p_values[index]", ("lab/evaluation/test_statistics.py",),
    ),
    Mutation(
        "Holm: a larger p-value may end below a smaller one", "auscult_lab/evaluation/statistics.py",
        "max(running, min(1.0, (len(p_values) - step) * p_values[index]))",
        "min(1.0, (len(p_values) - step) * p_values[index])", ("lab/evaluation/test_statistics.py",),
    ),
    Mutation(
        "randomisation: one-sided", "auscult_lab/evaluation/statistics.py",
        "(np.abs(swapped[:, first] - swapped[:, second]) >=", "(swapped[:, first] - swapped[:, second] >=",
        ("lab/evaluation/test_statistics.py",),
    ),
    Mutation(
        "randomisation: p-values of 0", "auscult_lab/evaluation/statistics.py",
        "(extreme + 1.0) / (rounds + 1.0)", "extreme / rounds", ("lab/evaluation/test_statistics.py",),
    ),
)  # fmt: skip

TEXT_AND_INDEX = (
    Mutation(
        "sentences end a character early", "auscult/documents/building.py",
        "offset + stop,", "offset + stop - 1,", ("documents/test_building.py",),
    ),
    Mutation(
        "sentences begin a character late", "auscult/documents/splitting.py",
        "first = end - len(stripped)", "first = end - len(stripped) + 1", ("documents/test_building.py",),
    ),
    Mutation(
        "flags: no sentence ends a document", "auscult_lab/modules/word_vectors.py",
        "flags[0, 0] = flags[-1, 1] = 1.0", "flags[0, 0] = 1.0", GOLDEN,
    ),
    Mutation(
        "index: deleted documents stay", "auscult/index/writer.py",
        "self._removed.update(keys.values())", "pass", ("index/test_segments.py",),
    ),
    Mutation(
        "index: a passage's vectors for the next one's", "auscult/index/store.py",
        "            begin = end\n", "", ("index/test_search.py",),
    ),
    Mutation(
        "index: removed documents count", "auscult/index/words.py",
        "else int(np.count_nonzero(living[rows]))", "else len(rows)", ("index/test_segments.py",),
    ),
    Mutation(
        "index: damaged blocks are read", "auscult/index/blocks.py",
        "!= self._sums[block]:", "!= self._sums[block] and False:", ("index/test_damage.py",),
    ),
    Mutation(
        "index: damaged rows are read", "auscult/index/store.py",
        "if _sum(self.identity, stored_key, *values) != checksum or", "if", ("index/test_damage.py",),
    ),
    Mutation(
        "index: an older generation is opened", "auscult/index/reader.py",
        "        current.check(store.manifest(), store.checksum(), store.path)\n", "", ("index/test_damage.py",),
    ),
    Mutation(
        "index: ties in reverse", "auscult/index/passage_index.py",
        "np.lexsort((rows, -scores))", "np.lexsort((-rows, -scores))", ("index/test_search.py",),
    ),
    Mutation(
        "index: no margin for rounding", "auscult/index/passage_index.py",
        "(scores >= lowest - margin)", "(scores >= lowest)", ("index/test_search.py",),
    ),
    Mutation(
        "index: signs of vectors count for nothing", "auscult/index/codes.py",
        "codes[place, span] ^ sign", "codes[place, span]", ("index/test_codes.py",),
    ),
    Mutation(
        "search: groups beyond the best passages are left out", "auscult/search/weighing.py",
        "if len(rows) < k and not is_all:", "if False:", ("search/test_estimates.py",),
    ),
    Mutation(
        "index: passages without sentences are found", "auscult/index/passage_index.py",
        "        scores[self.reader.wordless] = -np.inf\n", "", ("index/test_search.py",),
    ),
    Mutation(
        "index: another model's queries are answered", "auscult/index/reader.py",
        "if encoder.fingerprint != made_with.fingerprint", "if False", ("index/test_search.py",),
    ),
)  # fmt: skip

SEARCH = (
    Mutation(
        "spans: what lies outside does not count", "auscult/search/spans.py",
        "sums / lengths - (self._sums[-1] - sums) / outside", "sums / lengths", ("search/test_spans.py",),
    ),
    Mutation(
        "spans: ends inside paragraphs cost nothing", "auscult/search/spans.py",
        "INSIDE: Final = 1.0", "INSIDE: Final = 0.0", ("search/test_spans.py",),
    ),
    Mutation(
        "spans: headings are crossed", "auscult/search/spans.py",
        "(firsts[:, None] + lengths <= end[:, None])", "(firsts[:, None] + lengths <= count)",
        ("search/test_spans.py",),
    ),
    Mutation(
        "citations: any digest will do", "auscult/search/sentence_ids.py",
        "!= str(named):", "!= str(named) and False:", ("search/test_sentence_ids.py",),
    ),
    Mutation(
        "siblings: numbers do not count", "auscult/search/siblings.py",
        "return numbered or contradict", "return contradict", ("search/test_siblings.py",),
    ),
    Mutation(
        "coverage: a sibling answers", "auscult/search/coverage.py",
        "if sentence := sibling_note(query, hit.title, searcher.knowledge_base)", 'if sentence := ""',
        ("search/test_coverage.py",),
    ),
)  # fmt: skip

SERVED = "../packages/auscult-engines/tests/test_whole.py"
SERVICE = "../packages/auscult-service/tests"
SAFETY = (
    Mutation(
        "access: whoever has no group sees all", "auscult/index/fields.py",
        "not groups_in(value).isdisjoint(groups)", "not groups or not groups_in(value).isdisjoint(groups)",
        ("search/test_access.py",),
    ),
    Mutation(
        "access: words of hidden documents count", "auscult/index/segment.py",
        'view.__dict__.pop("words", None)', "pass", ("search/test_access.py",),
    ),
    Mutation(
        "access: names of hidden documents stay", "auscult/search/searcher.py",
        "return with_subjects(known.vocabulary, map(reader", "return known or with_subjects(known, map(reader",
        ("search/test_access.py",),
    ),
    Mutation(
        "access: a server gives rows of all groups", "auscult_engines/tables.py",
        '"access IS NULL OR current_setting', '"true OR current_setting', (SERVED,),
    ),
    Mutation(
        "servers: rows leave with their generation", "auscult_engines/readers.py",
        "oldest = latest if oldest_number is None else", "oldest = latest if True else", (SERVED,),
    ),
    Mutation(
        "whole: two publish at once", "auscult_engines/postgres_server.py",
        "elif not connection", "elif False and not connection", (SERVED,),
    ),
    Mutation(
        "whole: an earlier copy takes the place of a later one", "auscult_engines/publishing.py",
        "if not is_same and state", "if False and state", (SERVED,),
    ),
    Mutation(
        "whole: damaged blocks are read", "auscult_engines/whole.py",
        "!= self._sums[number]:", "!= self._sums[number] and False:", (SERVED,),
    ),
    Mutation(
        "keys: revoked ones open", "auscult_service/access/keys.py",
        "match = key if same & holds else match", "match = key if same else match", (f"{SERVICE}/access/test_keys.py",),
    ),
    Mutation(
        "tokens: for any audience", "auscult_service/access/tokens.py",
        '"verify_nbf": True', '"verify_nbf": True, "verify_aud": False', (f"{SERVICE}/access/test_tokens.py",),
    ),
    Mutation(
        "audit: a changed line is followed all the same", "auscult_service/audit_files.py",
        'if record.get("previous") != before:', "if False:",
        (f"{SERVICE}/test_audit.py::test_each_changed_line_is_detected",),
    ),
    Mutation(
        "audit: a head without a seal will do", "auscult_service/audit_files.py",
        "if self._key is not None and not head.has_seal_of(self._key):", "if False:",
        (f"{SERVICE}/test_audit_matrix.py",),
    ),
    Mutation(
        "audit: a log without its head is a new one", "auscult_service/audit_files.py",
        "if not problem and missing and (", "if False and (", (f"{SERVICE}/test_audit_matrix.py",),
    ),
    Mutation(
        "patients: only passages that answer count", "auscult/search/patients.py",
        "if not (may_answer or any(findings.asserted(number))):", "if not may_answer:", ("search/test_patients.py",),
    ),
    Mutation(
        "patients: in no order of time", "auscult/search/patients.py",
        "(each.date or _UNDATED, each.hit.doc_id, each.sentence.start)",
        '("", each.hit.doc_id, each.sentence.start)', ("search/test_patients.py",),
    ),
    Mutation(
        "saved searches: of all holders of keys", "auscult_service/page/saved_page.py",
        'return f"caller {caller.name}"', 'return "caller"',
        (f"{SERVICE}/page/test_saved.py::test_saved_searches_are_private_to_their_key",),
    ),
    Mutation(
        "conversation: people are what a question asks for", "auscult/understanding/conversation.py",
        "return asks and normalise_name(words[-1]) not in PEOPLE", "return asks",
        ("understanding/test_conversation.py::test_words_that_only_describe_people_are_no_name",),
    ),
)  # fmt: skip

MUTATIONS = (*CDV, *TRAINING, *MODELS, *EVALUATION, *TEXT_AND_INDEX, *SEARCH, *SAFETY)
