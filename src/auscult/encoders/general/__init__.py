"""The general encoder: sentences in the context of their document, placed for entity, aspect and question."""
