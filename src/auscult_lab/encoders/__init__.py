"""The architectures of grundmann2021: bi-, poly- and cross-encoder on any transformer backbone."""
