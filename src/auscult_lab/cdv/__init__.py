"""Contextual discourse vectors (arnold2020): sentence encoders, network, target spaces, persistence."""
