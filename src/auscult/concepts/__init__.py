"""Handle entities and aspects: taxonomies, names, identifiers, mention linking, completion and headings."""

from auscult.concepts.aspects import document_aspects, normalise_heading
from auscult.concepts.autocomplete import Autocomplete, Completion
from auscult.concepts.concept import Concept
from auscult.concepts.identifiers import normalise_identifier
from auscult.concepts.knowledge_base import KnowledgeBase
from auscult.concepts.mentions import Mention, MentionLinker
from auscult.concepts.merging import MergeCounts
from auscult.concepts.names import normalise_name
from auscult.concepts.resolver import EntityResolver, Match

__all__ = [
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
