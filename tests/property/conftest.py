"""One profile for all property tests."""

from hypothesis import settings

# The same examples on every run, so that a change of code is what makes a test fail; `pytest --hypothesis-profile=default`
# explores. No deadline: a busy machine is not a failure.
settings.register_profile("stairnoise", derandomize=True, deadline=None)
settings.load_profile("stairnoise")
