"""Benchmarks of stairnoise against what its users could run instead; README.md here says how."""
