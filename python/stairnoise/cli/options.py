"""Types and helpers for options. On the command line, errors name options where the library names arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from stairnoise._errors import ParameterError, ParameterTypeError

# Types of optional options.
Text = str | None
Texts = list[str] | None
Number = float | None
Integer = int | None
File = Path | None
# An option whose help does not show the default.
option = partial(typer.Option, show_default=False)

ALL_DIGITS = "Keep every digit of the noise's lattice, even those beyond the ±."
SHOW_TRUE = "Show the true values too, for teaching; the screen is then not private."
AllDigits = Annotated[bool, typer.Option("--all-digits", help=ALL_DIGITS)]
ShowTrue = Annotated[bool, typer.Option("--show-true", help=SHOW_TRUE)]

# Arguments that are not English words, so they mean the argument wherever they stand.
_SYMBOLS = frozenset({"alpha", "beta", "delta", "eps", "gamma", "lam", "mu", "sigma", "sigma2", "std", "theta"})
# Quoted text in an error stays as it is.
_QUOTED = r"""(?<!\w)'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_WORD = re.compile(rf"{_QUOTED}|(?<![-\w])[a-z]\w*(?! =)")
# The arguments that an error is about stand before "must", or before "of" and the name of a column.
_SUBJECT = re.compile(r"[-\w]+(?:\[\d+\])?(?:(?:, | or | and )[-\w]+)*(?= must | of ['\"])")
_PYTHON = re.compile(
    rf"({_QUOTED})|, got (?:None|True|False)\b|,? or None for [a-z ]+|; \w+\.from_eps takes it| or \w+=(?:\{{[^{{}}]*\}}|True)"
)


def options_of(command: Any) -> dict[str, str]:
    """Return the options of a command by the names of their parameters."""
    return {parameter.name: max(parameter.opts, key=len) for parameter in command.params if parameter.param_type_name == "option"}


def with_options(text: str, options: Mapping[str, str]) -> str:
    """Return the text of an error with options instead of arguments, and without hints that only fit Python."""
    text = _PYTHON.sub(lambda found: found[1] or "", text)
    subject = _SUBJECT.match(text)
    if subject is None:
        return text

    def option(found: re.Match[str]) -> str:
        name = found[0]
        return options.get(name, name) if "_" in name or name in _SYMBOLS else name

    first = re.sub(r"(?<![-\w])(\w+)(?:\[\d+\])?", lambda found: options.get(found[1], found[0]), subject[0])
    return first + _WORD.sub(option, text[subject.end() :])


@contextmanager
def naming(**options: str) -> Iterator[None]:
    """Let errors name these options, where arguments of the library and parameters of the command have different names."""
    try:
        yield
    except (ParameterError, ParameterTypeError) as error:
        raise type(error)(with_options(str(error), options)) from None
