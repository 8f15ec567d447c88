"""Answers for language models, over the Model Context Protocol: every sentence with an id that can be cited."""
