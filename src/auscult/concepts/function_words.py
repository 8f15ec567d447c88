"""English words that name nothing, for all that looks for those that do."""

from __future__ import annotations

# fmt: off
FUNCTION_WORDS = frozenset({
    "a", "about", "all", "also", "although", "an", "and", "another", "any", "are", "as", "at", "be", "because", "been",
    "being", "both", "but", "by", "can", "could", "did", "do", "does", "doing", "done", "each", "either", "for", "from",
    "further", "had", "has", "have", "having", "he", "her", "here", "hers", "herself", "him", "himself", "his", "i",
    "if", "in", "into", "is", "it", "its", "itself", "just", "may", "me", "might", "more", "most", "much", "must", "my",
    "myself", "of", "on", "one", "only", "or", "other", "others", "our", "ours", "ourselves", "own", "rather", "s",
    "same", "shall", "she", "should", "since", "so", "some", "such", "t", "than", "that", "the", "their", "theirs",
    "them", "themselves", "then", "there", "therefore", "these", "they", "this", "those", "though", "through", "thus",
    "to", "too", "up", "us", "very", "was", "we", "were", "what", "where", "whereas", "which", "while", "who", "whom",
    "whose", "will", "with", "would", "you", "your", "yours", "yourself",
})
# fmt: on
"""English words that say little alone. Words that turn a meaning round or ask for something are not among them: "not",
"no", "without", "before", "how", "why", "when"."""
