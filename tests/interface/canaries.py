"""A number and a text that occur nowhere else; tests search for them in texts that must show neither."""

import re

NUMBER = 7_319_526_481
TEXT = "canary"


def leaks(text: str) -> bool:
    """Return whether a text has a canary, however its digits are grouped: 7.319526e+09 has one."""
    plain = re.sub(r"[\W_]", "", text).lower()
    return "7319526" in plain or TEXT in plain
