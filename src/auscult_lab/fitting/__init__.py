"""Fitting the weights of the evidence, on questions made from documents and on judged ones."""
