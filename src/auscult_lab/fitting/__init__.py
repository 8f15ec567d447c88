"""Fitting the weights of the evidence, on questions that documents ask of themselves and on judged ones."""
