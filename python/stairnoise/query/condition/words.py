"""The words, signs, numbers and texts of a condition, as SQLGlot is given them.

Engines and parsers differ in what they take for a comment, a string, a number, a parameter or a keyword. So a text is refused
here unless all of them see the same words in it, and SQLGlot sees only operators: each column and constant has become a number
in double quotes, and each function and opening parenthesis has a name of ours.
"""

from __future__ import annotations

import contextlib
import datetime
import re
from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple, TypeVar

from stairnoise._errors import meant, received
from stairnoise.query.condition.tree import FUNCTIONS, PARTS, Literal, Name, check, refused

_CALLED = FUNCTIONS | PARTS - {"dow"}
# A parenthesis after one of these words opens a group. After any other word it is a call.
_BEFORE_GROUP = frozenset({"and", "between", "case", "else", "from", "in", "not", "or", "then", "when"})
_T = TypeVar("_T")
# The rule of an engine: it takes a name, and whether the name was quoted, and returns the column.
NameOf = Callable[[str, bool], "Name | None"]
GROUP, PREFIX = "group", "stairnoise_"
# What SQLGlot is given for a word or a sign.
_WRITTEN = {word: word for word in [*_BEFORE_GROUP, "distinct", "end", "false", "ilike", "is", "like", "null", "true"]}
_WRITTEN |= {"isnull": "is null", "notnull": "is not null", "(": f"{PREFIX}{GROUP} ("}

_LONGEST = 20_000
_MOST_OPERATORS = 500
# SQLGlot takes 25 frames of Python for a pair of parentheses, and Python has 1000.
DEEPEST = 25
# With integers of 64 bits and these limits, no result is beyond a double.
_MOST_PRODUCTS = 4
_LONGEST_NUMBER = 40
# Texts and calls are limited because time would reveal that there is a row that reaches them.
_LONGEST_TEXT = 255
_MOST_CALLS = 50

_LEXEME = re.compile(
    r"""(?P<space>[ \t\r\n]+)
    | (?P<text>'(?:[^'\\\0]|'')*')
    | (?P<quoted>"(?:[^"\\\0]|"")+")
    | (?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?![\w.]))
    | (?P<word>[A-Za-z_][A-Za-z0-9_]*(?!['"\w$]))
    | (?P<sign>(?:<=|>=|<>|!=|==|[=<>])(?![=<>!])|-(?!-)|[+*(),])""",
    re.VERBOSE,
)


class Words(NamedTuple):
    """A condition for SQLGlot.

    Attributes
    ----------
    text : str
        What SQLGlot parses.
    atoms : list of Name and Literal
        The columns and constants, by their numbers in the text.
    lexemes : list of str
        How the user wrote them.
    """

    text: str
    atoms: list[Name | Literal]
    lexemes: list[str]


def words_of(condition: str, names: list[str], name_of: NameOf) -> Words:
    """Return what SQLGlot is given.

    Parameters
    ----------
    condition : str
        What a user wrote.
    names : list of str
        The columns that an error can suggest.
    name_of : function
        The rule of the engine: it takes a name, and whether the name was quoted, and returns the column.
    """
    # Behind the end are empty words, so that the next ones can be looked at.
    found = [*_lexemes(condition), *[("", "")] * 3]
    words: list[str] = []
    atoms: list[Name | Literal] = []
    lexemes: list[str] = []
    at = calls = 0
    while found[at][0]:
        (kind, text), (next_kind, after) = found[at : at + 2]
        word = "" if kind in ("text", "quoted") else text.lower()
        at += 1
        if after == "(" and kind == "word" and word not in _BEFORE_GROUP:
            known = _CALLED
            if word == "extract" and found[at + 2][1].lower() == "from":
                word, known, at = found[at + 1][1].lower(), PARTS, at + 2
            check(word in known, f"calls {word}; the functions are {', '.join(sorted(_CALLED))}, and extract(year from ...)")
            words.append(f"{PREFIX}{word} (")
            calls, at = calls + 1, at + 1
        elif word == "in" and after == "(":
            words.append("in (")
            at += 1
        elif word in _WRITTEN or kind == "sign":
            words.append(_WRITTEN.get(word, word))
        else:
            if word in ("date", "timestamp") and next_kind == "text":
                kind, text, at = word, after, at + 1
            words.append(f'"{len(atoms)}"')
            atoms.append(_atom(kind, text, names, name_of))
            lexemes.append(text)
    operators = len(words) - len(atoms) - sum(word[-1] in "()," for word in words)
    check(operators <= _MOST_OPERATORS, f"has more than {_MOST_OPERATORS} operators")
    check(words.count("*") <= _MOST_PRODUCTS, f"has more than {_MOST_PRODUCTS} products")
    check(calls <= _MOST_CALLS, f"has more than {_MOST_CALLS} calls of functions")
    return Words(" ".join(words), atoms, lexemes)


def day(text: str) -> datetime.date:
    """Return the day of a text such as 2026-07-01."""
    # From Python 3.11 on, `fromisoformat` takes other forms too.
    return _read(text, "[0-9]{4}-[0-9]{2}-[0-9]{2}", datetime.date.fromisoformat, "date", "2026-07-01")


def moment(text: str) -> str:
    """Return a timestamp such as 2026-07-01 10:15:00 as all engines read it."""

    def read(text: str) -> str:
        whole, dot, fraction = text.partition(".")
        return datetime.datetime.fromisoformat(whole).isoformat(" ") + dot + fraction

    form = r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?"
    return _read(text, form, read, "timestamp", "2026-07-01 10:15:00")


def _read(text: str, form: str, read: Callable[[str], _T], kind: str, example: str) -> _T:
    with contextlib.suppress(ValueError):
        if re.fullmatch(form, text):
            return read(text)
    raise refused(f"has {received(text)}, which is not a {kind}; write one as in {kind} '{example}'")


def _atom(kind: str, text: str, names: list[str], name_of: NameOf) -> Name | Literal:
    if kind == "number":
        check(len(text) <= _LONGEST_NUMBER, f"has a number of more than {_LONGEST_NUMBER} digits")
        return Literal("real", Decimal(text)) if "." in text else Literal("integer", int(text))
    if kind in ("date", "text", "timestamp"):
        check(len(text) - 2 <= _LONGEST_TEXT, f"has a text of more than {_LONGEST_TEXT} characters")
        value = text[1:-1].replace("''", "'")
        return Literal(kind, {"date": day, "timestamp": moment}.get(kind, str)(value))
    name = text[1:-1].replace('""', '"') if kind == "quoted" else text
    column = name_of(name, kind == "quoted")
    if column is None:
        raise refused(f"names {received(name)}, which is not a column of the table{meant(name, names)}")
    return column


def _lexemes(condition: str) -> list[tuple[str, str]]:
    """Return the kind and the text of each word, sign, number and text."""
    check(len(condition) <= _LONGEST, f"has more than {_LONGEST} characters")
    found: list[tuple[str, str]] = []
    at = deep = 0
    while at < len(condition):
        lexeme = _LEXEME.match(condition, at)
        if lexeme is None:
            raise refused(_unread(condition, at))
        kind, text, at = str(lexeme.lastgroup), lexeme.group(), lexeme.end()
        found += [] if kind == "space" else [(kind, text)]
        deep += (text == "(") - (text == ")")
        check(deep <= DEEPEST, f"has parentheses more than {DEEPEST} deep")
    check(bool(found), "is empty")
    return found


def _unread(condition: str, at: int) -> str:
    """Describe the text at a place where no word begins."""
    found = re.compile(r"[\w.$]+['\"]?|--|/\*|.", re.DOTALL).match(condition, at)
    assert found is not None
    text = found.group()
    if text in "'\"":
        return f"has a quote at character {at + 1} that is not closed, or a backslash after it"
    hint = "" if text.isascii() else "; a name with other letters than A to Z must be in double quotes"
    return f"has {received(text)} at character {at + 1}, which is neither a column, a plain number nor an operator{hint}"
