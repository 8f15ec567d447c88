"""What belongs to which page: record files by the beginning of their names, and what is said of each paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Page:
    """A page of results.

    Attributes:
        name: Of its file: a citation key of `references.bib`, or "products".
        title: Its heading.
        files: Beginnings of the names of the evaluation records' files it shows.
        opening: What it is about, and how what was measured differs from what was published.
        figures: File of records, track and kind of each figure that is drawn from records.
        kept_figures: Name and caption of each that something else draws.
        baselines: Which term-based models stand in its tables.
        folder: Below `docs/`, with its slash.
    """

    name: str
    title: str
    opening: str
    files: tuple[str, ...] = ()
    figures: tuple[tuple[str, str, str], ...] = ()
    kept_figures: tuple[tuple[str, str], ...] = ()
    baselines: tuple[str, ...] = ("BM25", "TF-IDF", "QL")
    folder: str = "results/"

    @property
    def path(self) -> str:
        """Of its file, below `docs/`."""
        return f"{self.folder}{self.name}.md"


ARNOLD = Page(
    name="arnold2020",
    title="CDV: contextual discourse vectors (arnold2020)",
    opening="""The paper ranks the passages of health pages for an entity and an aspect, with models that never saw
these pages: *zero-shot*. MedQuAD here is rebuilt from its public sources by the paper's lists of queries and
candidates, so that BM25 and TF-IDF repeat the published figures. What differs for CDV: we had a few thousand articles
and pages to learn from, where the paper had Wikipedia; and "average targets" replaces the paper's Bloom-filter targets
by averages of word vectors. As published, with the paper's 50 epochs, zero-shot CDV stays below BM25: it finds the
asked aspect about as often as published, and the asked entity little more than half as often. What it lacks is text, as
the trainings on a part of the documents show. *Adapted* models have also read MedQuAD's training documents, which no
published model has.""",
    files=("evaluation", "medquad-overlap"),
    figures=(
        ("evaluation", "zero-shot", "match_rates"),
        ("evaluation", "zero-shot", "by_source"),
        ("evaluation", "zero-shot", "by_aspect"),
    ),
    kept_figures=(
        ("errors_bm25.png", "Wrong first passages of BM25 by class"),
        (
            "errors_cdv+avg-fasttext_average_targets_adapted.png",
            "Wrong first passages of adapted CDV by class; the paper has its zero-shot model's",
        ),
    ),
)
ZHU = Page(
    name="zhu2019",
    title="Neural rankers, HAR among them (zhu2019)",
    opening="""zhu2019 compares rankers on HealthQA, which may not be passed on, so that its figures are of another
corpus than any measured here. Its rankers, and more of the literature, were trained and measured on MedQuAD, NHS pages
and WikiSection; published beside them are arnold2020's figures of the same rankers, which learned from all of
Wikipedia. Ours learned for minutes on a processor. That is enough for rankers whose first layer compares words (KNRM,
CONV-KNRM, MatchPyramid, Duet), and not for those that read before they compare (HAR, MVLSTM, ARC-I, ARC-II): these find
the asked aspect and not the entity. HAR, given two hours, is well ahead of BM25, and behind CONV-KNRM
([HAR beside CONV-KNRM](../explanation/rankers.md#har-beside-conv-knrm)). Zero-shot, most neural
rankers lose to BM25, as the tables say.""",
    files=("rankers",),
    figures=(
        ("rankers-zero-shot", "zero-shot", "learning"),
        ("rankers-adapted", "adapted", "learning"),
        ("rankers-adapted", "adapted", "question_types"),
    ),
)
GRUNDMANN = Page(
    name="grundmann2021",
    title="CAPR: bi-, poly- and cross-encoders (grundmann2021)",
    opening="""The paper trains encoders on Wikipedia, MIMIC-III's clinical notes, or both, and tests on health pages
and notes. Here the encoder is all-MiniLM-L6-v2 instead of BioBERT, pages are a few thousand, notes samples that
may be shared. Cross-encoders were asked random subsets. Trained on pages, the bi-encoder loses to BM25 on notes;
trained on notes, it beats BM25 on pages.""",
    files=("capr",),
    figures=(
        ("capr-architectures", "adapted", "learning"),
        ("capr-architectures", "adapted", "question_types"),
        ("capr-notes-architectures", "adapted", "learning"),
    ),
    baselines=("BM25",),
)
WANG = Page(
    name="wang2021",
    title="CK-HQA: context and knowledge (wang2021)",
    opening="""The paper adds encoder layers ("context") and vectors of a knowledge graph ("knowledge") to three
rankers, and measures on HealthQA and NFCorpus. Here the corpora are MedQuAD, BioASQ and shared clinical notes, the
encoder is a small one, the graphs are made of the knowledge base (U) and of an encyclopaedia (W), and random subsets of
the queries are asked. A name says what a ranker is given: B encoder layers; BC also the state of [CLS]; SC the same of
a domain encoder; W and U graph vectors; NONE the layer that joins them, without any entity, a control that the paper
has not. On health pages context is a gain, and knowledge adds nothing that could be shown over that control.""",
    files=("ck-",),
    figures=(
        ("ck-medquad", "adapted", "learning"),
        ("ck-medquad", "adapted", "lengths"),
        ("ck-bioasq", "adapted", "lengths"),
    ),
    baselines=("BM25", "QL"),
)
GALKO = Page(
    name="galko2017",
    title="Question-weighted cosine (galko2017)",
    opening="""The paper ranks sentences for questions of BioASQ by a cosine whose words weigh by how rare they are in
questions (CD_q), beside neural rankers. What differs: the test questions are of later batches, and the candidates are
all snippets of all questions instead of the sentences of a question's given documents, so that heights are not
comparable. In pools of the paper's kind, cross-validated as it does, its order holds: CD_q before CD_idf before CD,
MatchPyramid and MLP behind them; DRMM alone has more than CD_q, within the intervals. The paper has no BM25; here BM25
is far above every cosine, and of the neural rankers only DRMM is above BM25.""",
)
UNSEEN = Page(
    name="unseen-documents",
    title="Documents nobody trained on",
    opening="""Questions asked of all passages of a corpus, by models that have read none of its documents. Queries are
entities and aspects (MedQuAD, clinical notes), titles and headings of the documents themselves (NHS, Wikipedia,
OpenStax), or questions as people wrote them (the others). Consumer questions are not for testing: models may be chosen
by them. Of BioASQ, PubMedQA and cpgQA the weights that order hits of `fast` and `best` have learned from training
questions: there they are *adapted*. Rows of MedQuAD, OpenStax, WikiSection, `cdv` and the
re-ranker are of before the last changes (weighted terms, one normal form of words, articles). What all-MiniLM-L6-v2
had read before is not known in full. *BM25 + all-MiniLM-L6-v2* adds up reciprocal ranks. What each corpus is asked
stands on top of `benchmarks/unseen_documents.py`. Measures are in percent, with 95 %
bootstrap intervals. Significant differences, hardware and dates:
[tables](../../benchmarks/results/tables/models.csv).""",
    files=("unseen_documents",),
    baselines=("BM25",),
)
GENERAL = Page(
    name="general-encoders",
    title="The general encoders, on the papers' tasks",
    opening="""What `auscult search` does, asked as the papers ask their models: a list of candidates is ranked by all
evidence, with titles and headings hidden, because queries are made of them. Statistics of words are those of the whole
collection. *Adapted* encoders have gone on learning from training documents of the corpus (`auscult train --documents`,
`--notes`).""",
    files=("general-",),
    baselines=("BM25",),
)
PRODUCTS = Page(
    name="products",
    title="Times and sizes of the parts",
    opening="""What the parts of the library cost and how exact they are, apart from any paper: splitting, indexing,
searching, linking, re-ranking, adapting.""",
    kept_figures=(("capr_latency.png", "Milliseconds a query against passages: bi-, poly- and cross-encoders"),),
)
SERVING = Page(
    name="serving",
    title="Indexes of many sentences, and servers",
    opening="""MedQuAD's documents read by `fast`, and more of them where an index is larger: copies in which a word of
each passage, a word of each title and all vectors differ a little (`benchmarks/serving.py`). An answer is ten passages
with marked sentences and all evidence, in one process, warm. A *question* is in words; a *pair* is an entity and an
aspect; *vectors* is the search by the model's score alone. Bytes are those on the disk.""",
)
RELIABILITY = Page(
    name="reliability",
    title="Reliability",
    opening="""What an index survives, checked by `make reliability`, which counts, and in small by every run of the
tests. What is not simulated: a disk that loses what it said it had synced. SQLite's own log is trusted to be synced at
each commit, and seen to be set so; all other files of a generation are seen to be synced before it is named. What the
log loses afterwards is noticed by `CURRENT` (R12, [how](../reference/index-format.md#generations)).""",
    folder="explanation/",
)
SECURITY = Page(
    name="security",
    title="Security",
    opening="""What a service survives, checked by `make security`, which counts, and in small by every run of the
tests. What it protects, and what it does not, is in [safety](safety.md). The service is `auscult serve` over HTTP, in a
process of its own.""",
    folder="explanation/",
)
FILES = Page(
    name="files",
    title="Files that are read",
    opening="""How much of files is read, and how much that is not of their text: of scans (`benchmarks/scans.py`), of
web pages (`benchmarks/boilerplate.py`), and of PDF and office files against another library
(`benchmarks/words_kept.py`).""",
)
FURTHER = Page(name="further", title="Further evaluations", opening="Records of no paper's own.")
PAGES = (ARNOLD, ZHU, GRUNDMANN, WANG, GALKO, UNSEEN, GENERAL, SERVING, RELIABILITY, SECURITY, FILES, PRODUCTS, FURTHER)


def page_of(file: str) -> Page:
    """The page of a file of evaluation records."""
    return next((page for page in PAGES if page.files and file.startswith(page.files)), FURTHER)


KINDS: Mapping[str, Page] = {
    "training": ARNOLD,
    "target_spaces": ARNOLD,
    "ranker_tuning": ZHU,
    "names_seen": ZHU,
    "knowledge_seeds": WANG,
    "weighted-cosine": GALKO,
    "weighted-cosine-why": GALKO,
    "medquad-overlap": ARNOLD,
    "nothing_here": GENERAL,
    "left_out": GENERAL,
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
