"""CK-HQA (wang2021): context states and knowledge-graph vectors of tokens, fused, compared, and ranked by a head."""
