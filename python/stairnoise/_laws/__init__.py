"""The mechanisms that add noise: one file a law."""
