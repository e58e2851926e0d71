"""One profile for all property tests."""

from hypothesis import settings

# Every run has the same examples, so a test can only fail because code changed; `pytest --hypothesis-profile=default`
# explores. There is no deadline, because a busy machine is no failure.
settings.register_profile("stairnoise", derandomize=True, deadline=None)
settings.load_profile("stairnoise")
