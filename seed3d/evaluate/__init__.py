"""Measures of the models on objects that they never saw, next to baselines of the same run."""
