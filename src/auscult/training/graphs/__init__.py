"""Vectors of a knowledge graph's entities and relations: TransE, its training, and how well it predicts links."""
