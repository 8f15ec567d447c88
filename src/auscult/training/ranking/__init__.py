"""Training of neural rankers on queries made of titles and headings, with sampled negatives."""
