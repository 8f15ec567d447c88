"""Training of contextual discourse vectors (arnold2020): Bloom encoders, examples, objective, fine-tuning."""
