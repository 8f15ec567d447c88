"""Training of bi-, poly- and cross-encoders on labels that the text carries (grundmann2021, section 3.1)."""
