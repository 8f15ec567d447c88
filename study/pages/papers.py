"""What belongs to which page: record files by the beginning of their names, and what is said of each paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

TABLES = "../../benchmarks/results/tables"
"""Path of the folder of tables for programs, from a page."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A table of a page: models of one track by rows, tasks by columns.

    Attributes:
        title: Its heading.
        track: Of the models that learned; never shared with another.
        corpora: Whose tasks are columns, in their order.
        measures: Shown of each task; the rest is in the tables for programs.
        elsewhere: Corpora that only the paper has, each with a measure: its figures stand beside.
    """

    title: str
    track: str
    corpora: tuple[str, ...]
    measures: tuple[str, ...] = ("R@1",)
    elsewhere: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """A page of results.

    Attributes:
        name: Of its file: a citation key of `references.bib`, or "products".
        title: Its heading.
        files: Beginnings of the names of the evaluation records' files it shows.
        opening: What it is about, and how what was measured differs from what was published.
        comparisons: Its tables of models; empty for one a track.
        published: Citation key of the figures beside measured ones; empty for none.
        only_tables: Files of records that its comparisons omit: variants that explain others, and groups of queries
            with a table of their own. The tables for programs have them.
        figures: File of records, track and kind of each figure that is drawn from records.
        kept_figures: Name and caption of each that something else draws.
        baselines: Which term-based models stand in its tables.
        folder: Below `docs/`, with its slash.
    """

    name: str
    title: str
    opening: str
    files: tuple[str, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    published: str = ""
    only_tables: tuple[str, ...] = ()
    figures: tuple[tuple[str, str, str], ...] = ()
    kept_figures: tuple[tuple[str, str], ...] = ()
    baselines: tuple[str, ...] = ("BM25", "TF-IDF", "QL")
    folder: str = "results/"

    @property
    def path(self) -> str:
        """Path of its file below `docs/`."""
        return f"{self.folder}{self.name}.md"


ARNOLD = Page(
    name="arnold2020",
    title="CDV: contextual discourse vectors (arnold2020)",
    opening="""The paper ranks passages of health pages for an entity and an aspect, with models that never saw
these pages: *zero-shot*. BM25 and TF-IDF repeat the published figures. Our CDV learned from a few thousand
articles, the paper's from Wikipedia. As published, with Bloom codes and 50 epochs, ours stays below BM25: its
target encoder hardly learns the codes. *Average targets* are word vectors instead of the codes. Trained for 15
passes over the text instead of 5, they find more than the paper's. A frozen transformer finds 12 points less than
averaged words trained alike (40.8). *Adapted* models also read MedQuAD's training documents, which no published
model did.""",
    files=("evaluation", "medquad-overlap"),
    only_tables=("evaluation-variants", "medquad-overlap"),
    comparisons=(
        Comparison("Zero-shot models", "zero-shot", ("medquad",), ("R@1", "MAP")),
        Comparison("Adapted models", "adapted", ("medquad", "wikisection")),
    ),
    published="arnold2020",
    figures=(
        ("evaluation", "zero-shot", "match_rates"),
        ("evaluation", "zero-shot", "by_source"),
        ("evaluation", "zero-shot", "by_aspect"),
    ),
    kept_figures=(
        ("errors_bm25.png", "Wrong first passages of BM25 by class"),
        (
            "errors_cdv+avg-fasttext_average_targets_zero-shot.png",
            "Wrong first passages of zero-shot CDV by class",
        ),
    ),
)
ZHU = Page(
    name="zhu2019",
    title="Neural rankers, HAR among them (zhu2019)",
    opening="""The paper compares rankers on HealthQA. Here they rank MedQuAD, NHS pages and WikiSection, beside
figures of arnold2020, whose rankers learned from all of Wikipedia, and of zhu2019, for HealthQA's ten candidates. Most
of ours learned from 9,000 queries: enough for those that compare words first, not for those that read first. From ten
times as many, the adapted HAR is ahead of CONV-KNRM, as in the papers, and MVLSTM is the best zero-shot
([more](../explanation/rankers.md)).""",
    files=("rankers",),
    only_tables=("rankers-matchzoo",),
    comparisons=(
        Comparison("Zero-shot models", "zero-shot", ("medquad", "nhs"), elsewhere=(("healthqa", "R@1"),)),
        Comparison("Adapted models", "adapted", ("medquad", "wikisection")),
    ),
    published="arnold2020",
    figures=(
        ("rankers-zero-shot", "zero-shot", "learning"),
        ("rankers-adapted", "adapted", "learning"),
        ("rankers-adapted", "adapted", "question_types"),
    ),
)
GRUNDMANN = Page(
    name="grundmann2021",
    title="CAPR: bi-, poly- and cross-encoders (grundmann2021)",
    opening="""The paper trains encoders on Wikipedia, on MIMIC-III's notes, or both, and tests on pages and notes. Here
the encoder is all-MiniLM-L6-v2 instead of BioBERT, pages are a few thousand, and notes are
samples that may be shared. Trained on pages, all lose to BM25 on notes, most of all the cross-encoder, the best on
pages; trained on notes, the bi-encoder beats BM25 on pages. Fifty epochs bring the bi-encoder level with the
cross-encoder.""",
    files=("capr",),
    comparisons=(
        Comparison("Across domains, zero-shot", "zero-shot", ("medquad", "clinical-notes", "clinical-notes-bm25")),
        Comparison("Adapted to health pages", "adapted", ("medquad", "wikisection")),
        Comparison("Adapted to notes", "adapted", ("clinical-notes", "clinical-notes-bm25")),
    ),
    published="grundmann2021",
    only_tables=("capr-same-page", "capr-bm25-negatives", "capr-mixed", "capr-read-before", "capr-zero-shot-again"),
    figures=(
        ("capr-architectures", "adapted", "learning"),
        ("capr-notes-architectures", "adapted", "learning"),
    ),
    baselines=("BM25",),
)
WANG = Page(
    name="wang2021",
    title="CK-HQA: context and knowledge (wang2021)",
    opening="""The paper gives three rankers an encoder's layers ("context") and vectors of a knowledge graph
("knowledge"), and measures on HealthQA and NFCorpus. Here the corpora are MedQuAD, BioASQ and shared clinical notes,
and the encoder is small. A name says what a ranker is given: B encoder layers; BC also the state of [CLS]; SC the same
of a domain encoder; W vectors of an encyclopaedia's graph; U of the knowledge base's; NONE the layer that joins them,
without any entity, which is our control. On health pages context is a gain. Over the control, knowledge shows
none.""",
    files=("ck-",),
    comparisons=(
        Comparison(
            "Adapted models",
            "adapted",
            ("medquad", "bioasq", "clinical-notes", "clinical-notes-bm25"),
            ("MAP",),
            elsewhere=(("healthqa", "MAP"), ("nfcorpus", "MAP")),
        ),
        Comparison("Zero-shot models", "zero-shot", ("medquad",), ("MAP",)),
    ),
    published="wang2021",
    figures=(
        ("ck-medquad", "adapted", "learning"),
        ("ck-medquad", "adapted", "lengths"),
    ),
    baselines=("BM25", "QL"),
)
GALKO = Page(
    name="galko2017",
    title="Question-weighted cosine (galko2017)",
    opening="""The paper ranks sentences for questions of BioASQ by a cosine whose words weigh by how rare they are in
questions (CD_q), beside neural rankers. Here (`benchmarks/weighted_cosine.py`) questions are of later years, and
candidates are all snippets, so that heights are not comparable. Cross-validated in pools of the paper's kind, its order
holds: CD_q before CD_idf before CD, with MatchPyramid and MLP behind. Every batch orders the methods alike, as in the
paper. BM25, which it lacks, is far above every cosine.""",
)
UNSEEN = Page(
    name="unseen-documents",
    title="Documents nobody trained on",
    opening="""All passages of a corpus are asked for by entity and aspect (`benchmarks/unseen_documents.py`). No model
has read its documents. `fast` and `best` are those of 0.1.0: today's have since learned from training
documents of MedQuAD, NHS pages and notes. [Questions in people's words](asking.md) are asked of today's. Rows of
MedQuAD, OpenStax, WikiSection and the re-ranker are of before the last changes. *BM25 + all-MiniLM-L6-v2* adds up
reciprocal ranks.""",
    files=("unseen_documents",),
    baselines=("BM25",),
)
ASKING = Page(
    name="asking",
    title="Questions in people's words",
    opening="""Written questions about sections of documents (`benchmarks/asking.py`): "how long has my dad got".
Models learned from [others](../../data/questions/README.md). Below them, judged collections
(`benchmarks/unseen_documents.py`); consumer questions are for choosing models, not for testing.""",
)
GENERAL = Page(
    name="general-encoders",
    title="The general encoders, on the papers' tasks",
    opening="""`auscult search`, asked as the papers ask their models: it ranks a list of candidates by all evidence.
Titles and headings are hidden, because queries are made of them. *Adapted* encoders went on learning from training
documents of the corpus (`auscult train --documents`). `fast` and `best` are those of 0.1.0.""",
    files=("general-",),
    comparisons=(
        Comparison("Zero-shot", "zero-shot", ("clinical-notes", "medquad"), ("R@1", "MAP")),
        Comparison("Adapted", "adapted", ("medquad",), ("R@1", "MAP")),
    ),
    baselines=("BM25",),
)
PRODUCTS = Page(
    name="products",
    title="Times and sizes of the parts",
    opening="""What the parts of the library cost and how exact they are, a line each. Shares are of 1; times are of
at most two processor cores.""",
)
SERVING = Page(
    name="serving",
    title="Indexes of many sentences, and servers",
    opening="""MedQuAD's documents read by `fast`; larger indexes hold copies that differ a little
(`benchmarks/serving.py`). An answer to a *question* is ten passages with marked sentences and all evidence; *vectors*
is the search by the model's score alone.""",
)
RELIABILITY = Page(
    name="reliability",
    title="Reliability",
    opening="""What an index survives, counted by `make reliability`; the tests check a few cases of each. A disk that
loses what it reported as synced is not simulated. SQLite's log is trusted to be synced at each commit; what it loses
afterwards is noticed by `CURRENT` (R12, [how](../reference/index-format.md#generations)).""",
    folder="explanation/",
)
SECURITY = Page(
    name="security",
    title="Security",
    opening="""Attacks and overload that a service was tried with, by `make security` and, in small, by the tests.
[Safety](safety.md) says what a service protects and what it does not.""",
    folder="explanation/",
)
FILES = Page(
    name="files",
    title="Files that are read",
    opening="""How much of a file's text is read, and how much that is not its text: scans (`benchmarks/scans.py`), web
pages (`benchmarks/boilerplate.py`), and PDF and office files against another library (`benchmarks/words_kept.py`).
Shares are of 1.""",
)
FURTHER = Page(name="further", title="Further evaluations", opening="Records of no paper's own.")
PAGES = (
    ARNOLD,
    ZHU,
    GRUNDMANN,
    WANG,
    GALKO,
    ASKING,
    UNSEEN,
    GENERAL,
    SERVING,
    RELIABILITY,
    SECURITY,
    FILES,
    PRODUCTS,
    FURTHER,
)


def page_of(file: str) -> Page:
    """The page of a file of evaluation records."""
    return next((page for page in PAGES if page.files and file.startswith(page.files)), FURTHER)


KINDS: Mapping[str, Page] = {
    "training": ARNOLD,
    "target_spaces": ARNOLD,
    "bloom_codes": ARNOLD,
    "medquad-overlap": ARNOLD,
    "ranker_tuning": ZHU,
    "names_seen": ZHU,
    "seeds": ARNOLD,
    "knowledge_seeds": WANG,
    "weighted-cosine": GALKO,
    "weighted-cosine-why": GALKO,
    "asking": ASKING,
    "fit_written": ASKING,
    "nothing_here": GENERAL,
    "verdicts": GENERAL,
    "spans": GENERAL,
    "general_ablation": GENERAL,
    "general_towers": GENERAL,
    "serving": SERVING,
    "http_load": SERVING,
    "writing_together": SERVING,
    "published": SERVING,
    "reliability": RELIABILITY,
    "security": SECURITY,
    "scans": FILES,
    "boilerplate": FILES,
    "words_kept": FILES,
}
"""Pages of other kinds of records; products has the rest."""
OF_REPLACED: Final = frozenset({"nothing_here", "spans", "general_ablation"})
"""Kinds of records of encoders or weights that have since been replaced: kept, but on no page."""
