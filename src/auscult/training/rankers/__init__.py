"""Training of neural rankers, on queries made of titles and headings or a corpus' own, with sampled negatives."""
