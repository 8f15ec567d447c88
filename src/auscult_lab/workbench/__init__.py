"""The workbench: a comparison of models on a user's questions, passages and judgements, with a report."""
