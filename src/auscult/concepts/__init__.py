"""Entities and aspects: taxonomies, names, identifiers, mention linking, completion, headings."""

from auscult.concepts.aspects import AspectVocabulary, document_aspects, normalise_heading
from auscult.concepts.autocomplete import Autocomplete, Completion
from auscult.concepts.identifiers import normalise_identifier
from auscult.concepts.knowledge_base import Concept, KnowledgeBase
from auscult.concepts.linking import EntityResolver, Match, Mention, MentionLinker
from auscult.concepts.merging import MergeCounts
from auscult.concepts.names import normalise_name

__all__ = [
    "AspectVocabulary",
    "Autocomplete",
    "Completion",
    "Concept",
    "EntityResolver",
    "KnowledgeBase",
    "Match",
    "Mention",
    "MentionLinker",
    "MergeCounts",
    "document_aspects",
    "normalise_heading",
    "normalise_identifier",
    "normalise_name",
]
