"""The skellam mechanism."""
