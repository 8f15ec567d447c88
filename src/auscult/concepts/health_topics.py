"""Add the medicines, vaccines, herbs, tests and operations of MedlinePlus, and their everyday names.

People ask about these, but taxonomies of diseases do not have them. MedQuAD (benabacha2019) publishes the questions and
names of MedlinePlus' drugs, herbs and encyclopedia under CC BY 4.0, without the answers. Titles of leaflets that name
nothing ("Type 2 diabetes - self-care") are left out, and so is what the knowledge base already has.

All forms of a medicine ("Timolol Oral", "Timolol Ophthalmic") are one concept. The data have no brand names and no
names used in other countries; `concepts/medicine_names.tsv`, written for this package, lists common ones.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import replace
from importlib import resources
from pathlib import Path

from auscult.concepts import Concept, KnowledgeBase, normalise_name
from auscult.concepts.concept import distinct_names
from auscult.concepts.merging import join
from auscult.files.records import read_records

SOURCE = "MedlinePlus"
_ENCYCLOPEDIA = "10_MPlus_ADAM_QA"
_COLLECTIONS = (_ENCYCLOPEDIA, "11_MPlusDrugs_QA", "12_MPlusHerbsSupplements_QA")
_MOST_WORDS = 5
_BRACKETS = re.compile(r"\s*\(([^()]*)\)")
# The forms in which medicines are given.
_FORM = re.compile(
    r"\s+(?:(?:oral|nasal|topical|transdermal|vaginal|rectal|subcutaneous|intravenous|intravesical|eye|ear) )?"
    r"(?:injection|inhalation|ophthalmic|otic|oral|topical|nasal spray|nasal gel|nasal|transdermal(?: patch)?|patch|"
    r"implant|spray|gel|cream|lozenges|vaginal|rectal|buccal|sublingual|intravesical|suppositories|powder|drops)$",
    re.IGNORECASE,
)
_LEAFLET = re.compile(
    r"^(?:taking|using|learn|what|when|how|a guide|managing|coping|living|getting|benefits|aging changes|deciding)\b|"
    r" - |\b(?:your|dosing|origin|resources)\b",
    re.IGNORECASE,
)


def with_health_topics(knowledge_base: KnowledgeBase, path: Path | str) -> KnowledgeBase:
    """Return a knowledge base with the health topics that it lacks, added after its own concepts.

    Args:
        knowledge_base: The knowledge base; topics whose title or identifier it has are left out.
        path: JSON lines: `doc_id`, `collection`, `title`, `umls_cuis`, `synonyms`.

    Raises:
        DataError: The file is absent or malformed.
    """
    topics: dict[str, Concept] = {}
    for topic in _read_topics(Path(path)):
        key = normalise_name(topic.name)
        known = topics.get(key)
        topics[key] = join(known, topic) if known else topic
    table = resources.files("auscult.concepts").joinpath("medicine_names.tsv").read_text(encoding="utf-8")
    for row in csv.DictReader(table.splitlines(), delimiter="\t"):
        name, everyday = row["name"], row["everyday"].split("|")
        key = normalise_name(name)
        known = topics.get(key) or Concept(f"MEDICINE:{key.replace(' ', '-')}", name, source=SOURCE)
        topics[key] = replace(known, synonyms=distinct_names((*everyday, *known.synonyms), known.name))
    added = [
        topic
        for topic in topics.values()
        if not (knowledge_base.by_name(topic.name) or any(map(knowledge_base.by_identifier, topic.xrefs)))
    ]
    concepts = (*knowledge_base, *added)
    return KnowledgeBase(concepts, knowledge_base.codes.values(), knowledge_base.counts, foreign=knowledge_base.foreign)


def _read_topics(path: Path) -> Iterator[Concept]:
    for record in read_records(path):
        title = record.text("title", "")
        if record.text("collection") not in _COLLECTIONS or not _is_name(title):
            continue
        name = _BRACKETS.sub("", title).strip()
        bare = _FORM.sub("", name)
        others = (*_BRACKETS.findall(title), *record.texts("synonyms"))
        if record.text("collection") == _ENCYCLOPEDIA:
            # Single words among the synonyms are too general ("adult", "oil"), except those in capitals ("ECG").
            others = tuple(each for each in others if " " in each or each.isupper())
        yield Concept(
            concept_id=f"MEDQUAD:{record.text('doc_id')}",
            name=bare,
            synonyms=distinct_names((name, *filter(_is_name, others)), bare),
            xrefs=tuple(f"UMLS:{code}" for code in record.texts("umls_cuis")),
            source=SOURCE,
        )


def _is_name(title: str) -> bool:
    return bool(title) and len(title.split()) <= _MOST_WORDS and not _LEAFLET.search(title)
