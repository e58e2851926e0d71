"""The discrete gaussian mechanism."""
