"""From words to concepts: what a person typed (`EntityResolver`), what a text names (`MentionLinker`)."""

from auscult.concepts.mentions import Mention, MentionLinker
from auscult.concepts.resolver import EntityResolver, Match, MatchKind

__all__ = ["EntityResolver", "Match", "MatchKind", "Mention", "MentionLinker"]
