"""Encode sentences in the context of their document by entity, aspect and question: the general encoder."""
