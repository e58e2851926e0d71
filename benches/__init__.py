"""Benchmarks of stairnoise against its alternatives; README.md here explains them."""
