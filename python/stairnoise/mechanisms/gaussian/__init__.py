"""The gaussian mechanism."""
