"""The discrete canonical mechanism."""
