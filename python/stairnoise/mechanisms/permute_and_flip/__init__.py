"""The permute and flip mechanism."""
