"""A number and a text that occur nowhere else, to be found in what should show neither."""

import re

NUMBER = 7_319_526_481
TEXT = "canary"


def leaks(text: str) -> bool:
    """Tell whether a text has a canary, however its digits are grouped: 7.319526e+09 has one."""
    plain = re.sub(r"[\W_]", "", text).lower()
    return "7319526" in plain or TEXT in plain
