"""The training data of an experiment: labelled documents, held-out documents, and names for substitution.

Name substitution turns an article into one about another entity. A few thousand titles teach few entities, but articles
mostly refer to their subject by its name. Another name of the knowledge base therefore replaces the title, and its
repeats in the text. All labels stay right; only facts change, which the document encoder need not know. The encoder
thus learns to find the name of a document's subject, whatever it is. Not in arnold2020.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from auscult.concepts import KnowledgeBase, MentionLinker, normalise_name
from auscult.concepts.opening import open_knowledge_base
from auscult.documents import Document
from auscult.documents.building import build_document
from auscult.documents.document import Section
from auscult.errors import ConfigError, printable
from auscult.files.records import left_out
from auscult.ingest.corpus import Corpus
from auscult_lab.corpora.opening import open_corpus
from auscult_lab.modules.word_vectors import tokenize
from auscult_lab.training.experiment import CorpusChoice, DataExperiment
from auscult_lab.training.labels import LabelledDocument, label_documents, title_words

_LONGEST_NAME = 8
_NAMED = 3


@dataclass(frozen=True, slots=True)
class NamePool:
    """Names to substitute for titles.

    Attributes:
        names: The words of each name.
    """

    names: tuple[tuple[str, ...], ...]

    def draw(self, rng: random.Random) -> tuple[str, ...]:
        """Return one name, uniformly."""
        return self.names[rng.randrange(len(self.names))]


def name_pool(knowledge: KnowledgeBase, excluded: Sequence[str] = ()) -> NamePool:
    """Return every name and synonym of up to eight words, without the excluded ones.

    Args:
        knowledge: Source of the names.
        excluded: Names that no training may see (the entities of test queries); compared by their words.
    """
    left_out = {tuple(tokenize(name)) for name in excluded}
    names = {
        words: None
        for concept in knowledge
        for name in concept.names
        if (words := tuple(tokenize(name))) and len(words) <= _LONGEST_NAME and words not in left_out
    }
    return NamePool(tuple(names))


def definition_documents(knowledge: KnowledgeBase, excluded: Iterable[Document]) -> list[Document]:
    """Return a document for each concept with a definition: its name as title, and the definition without a heading.

    Args:
        knowledge: Source of the definitions.
        excluded: Documents about entities that training may not see; concepts with these titles are left out.
    """
    unseen = {normalise_name(title_words(document.title)) for document in excluded}
    return [
        build_document(
            doc_id=f"definition:{concept.concept_id}",
            title=concept.name,
            sections=[Section(heading="", text=concept.definition)],
        )
        for concept in knowledge
        if concept.definition and not unseen & {normalise_name(name) for name in concept.names}
    ]


def replace_words(sentence: Sequence[str], old: Sequence[str], new: Sequence[str]) -> list[str]:
    """Return the sentence with every occurrence of the words `old` replaced by `new`."""
    size, place = len(old), 0
    replaced: list[str] = []
    old = list(old)
    while place < len(sentence):
        if sentence[place] == old[0] and list(sentence[place : place + size]) == old:
            replaced.extend(new)
            place += size
        else:
            replaced.append(sentence[place])
            place += 1
    return replaced


def mentions_words(sentences: Sequence[Sequence[str]], words: Sequence[str]) -> bool:
    """Check whether any sentence contains the words, in order and adjacent."""
    return bool(words) and any(
        sentence[i] == words[0] and list(sentence[i : i + len(words)]) == list(words)
        for sentence in sentences
        for i in range(len(sentence) - len(words) + 1)
    )


@dataclass(frozen=True, slots=True)
class TrainingData:
    """The labelled documents of an experiment, split.

    Attributes:
        documents: For training.
        held_out: For validation.
        knowledge: The knowledge base, or None.
        pool: Names to substitute; None where the experiment does not substitute names.
        texts: Documents for word vectors: all documents read, and the experiment's further corpora.
    """

    documents: list[LabelledDocument]
    held_out: list[LabelledDocument]
    knowledge: KnowledgeBase | None
    pool: NamePool | None
    texts: list[Document]


def gather(experiment: DataExperiment, say: Callable[[str], None]) -> TrainingData:
    """Read, split and label the documents of an experiment.

    Raises:
        CorpusMissingError: A corpus is not on this machine.
        ConfigError: The validation corpora have too few documents to hold some out.
    """
    knowledge = open_knowledge_base(experiment.knowledge) if experiment.knowledge is not None else None
    documents, training, held_out = read_and_hold_out(experiment, say)
    if experiment.share < 1:
        drawn = random.Random(experiment.seed).sample(
            range(len(training)), max(1, round(experiment.share * len(training)))
        )
        training = [training[row] for row in sorted(drawn)]
        say(f"{len(training):,} of them to train on")
    if experiment.labels.definitions and knowledge is not None:
        definitions = definition_documents(knowledge, held_out)
        training = training + definitions
        say(f"knowledge base: {len(definitions):,} definitions")
    linker = MentionLinker(knowledge) if knowledge is not None and experiment.labels.mentions else None
    say("labelling" + (" (titles, headings and linked mentions)" if linker else " (titles and headings)"))
    excluded = [
        query.entity
        for choice in experiment.never_learn
        for query in open_corpus(choice.name, skip_bad=choice.skip_bad).queries(choice.split or "test")
    ]
    substitutes = experiment.labels.substitute > 0 and knowledge is not None
    return TrainingData(
        documents=list(label_documents(training, knowledge, linker)),
        held_out=list(label_documents(held_out, knowledge, None)),
        knowledge=knowledge,
        pool=name_pool(knowledge, excluded) if substitutes and knowledge is not None else None,
        texts=documents + [document for choice in experiment.word_vectors.texts for document in read(choice, say)[1]],
    )


def read(choice: CorpusChoice, say: Callable[[str], None]) -> tuple[Corpus, list[Document]]:
    """Return the corpus of a choice, and its documents."""
    corpus = open_corpus(choice.name, skip_bad=choice.skip_bad)
    documents = list(corpus.documents(choice.split))
    for line in left_out(corpus):
        say(f"{choice.name}: left out {line}")
    return corpus, documents


def read_and_hold_out(
    experiment: DataExperiment, say: Callable[[str], None], *, untitled: bool = False, most: float = 1.0
) -> tuple[list[Document], list[Document], list[Document]]:
    """Read an experiment's documents and hold some out.

    Whole entities are held out: no training document of any corpus has the title of a held-out one.

    Args:
        experiment: Names the documents, the number to hold out, and the corpora to draw these from.
        say: Called with a message for each corpus.
        untitled: Also hold out documents without a title.
        most: Largest share of the documents to hold out.

    Returns:
        All documents with a sentence, those for training, and those held out.

    Raises:
        CorpusMissingError: A corpus is not on this machine.
        ConfigError: The validation corpora have too few documents to hold some out.
    """
    documents: list[Document] = []
    eligible: list[int] = []
    for choice in experiment.corpora:
        usable = [document for document in read(choice, say)[1] if document.sentences]
        say(f"{choice.name}: {len(usable):,} documents")
        if choice.name in experiment.validation.corpora:
            eligible += range(len(documents), len(documents) + len(usable))
        documents += usable
    names = [normalise_name(title_words(document.title)) for document in documents]
    order = [row for row in eligible if names[row] or untitled]
    random.Random(experiment.seed).shuffle(order)
    wanted = max(1, min(experiment.validation.documents, int(most * len(order))))
    chosen = order[:wanted]
    titles = {names[row] for row in chosen} - {""}
    apart = set(chosen)
    training = [
        document
        for row, (document, name) in enumerate(zip(documents, names, strict=True))
        if row not in apart and name not in titles
    ]
    repeats = [document for row, document in enumerate(documents) if row not in apart and names[row] in titles]
    if repeats:
        say(_describe_left_out(repeats))
    if len(chosen) < wanted or not training:
        remedy = "lower validation.documents or name more validation.corpora"
        which = "documents" if untitled else "titled documents"
        raise ConfigError(f"more than {wanted} {which} to hold some out", f"{len(order)}", remedy)
    return documents, training, [documents[row] for row in sorted(chosen)]


def _describe_left_out(repeats: Sequence[Document]) -> str:
    """Return a line on documents with the title of a held-out one: their number, and the first of them."""
    first = [f"{each.metadata.get('file', each.doc_id)} ('{each.title}')" for each in repeats[:_NAMED]]
    more = f" and {len(repeats) - _NAMED:,} more" if len(repeats) > _NAMED else ""
    return printable(f"left out {len(repeats):,} x title of a held-out document, first: {', '.join(first)}{more}")
