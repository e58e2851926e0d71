"""The words, signs, numbers and texts of a condition, as SQLGlot is given them.

Engines and parsers differ in what they take for a comment, a string, a number, a parameter or a keyword. So a text is refused
here unless all of them see the same words in it, and SQLGlot sees only operators: each column and constant has become a number
in double quotes, and each function and opening parenthesis has a name of ours.
"""

from __future__ import annotations

import datetime
import re
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import accumulate

from stairnoise._errors import meant, received
from stairnoise.query.condition.tree import Literal, Name, refused

# These give an answer for every row in every engine. Others fail for some rows, as `abs` does for the smallest integer and a
# cast for most texts, and a failure would reveal data; or they are not about one row.
TEXTUAL = frozenset({"lower", "ltrim", "rtrim", "trim", "upper"})
FUNCTIONS = TEXTUAL | {"coalesce", "length", "nullif", "substr"}
# Parts of a date, and of a timestamp. Sunday is the first day of a week for `dow`, 0; `week` is that of ISO 8601.
PARTS = frozenset({"day", "dow", "hour", "month", "quarter", "week", "year"})
_CALLED = FUNCTIONS | PARTS - {"dow"}
# A parenthesis after one of these words opens a group. After any other word it is a call.
_BEFORE_GROUP = frozenset({"and", "between", "case", "else", "from", "in", "not", "or", "then", "when"})
_KEYWORDS = _BEFORE_GROUP | {"distinct", "end", "false", "ilike", "is", "like", "null", "true"}
_SHORT = {"isnull": "is null", "notnull": "is not null"}
GROUP, PREFIX = "stairnoise_group", "stairnoise_"

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

_QUOTE_IT = "; a name with other letters than A to Z must be in double quotes"

_LEXEME = re.compile(
    r"""(?P<space>[ \t\r\n]+)
    | (?P<comment>--|/\*|\#)
    | (?P<text>'(?:[^'\\\0]|'')*')
    | (?P<quoted>"(?:[^"\\\0]|"")+")
    | (?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?![\w.]))
    | (?P<word>[A-Za-z_][A-Za-z0-9_]*(?!['"\w$]))
    | (?P<sign>(?:<=|>=|<>|!=|==|[=<>])(?![=<>!])|[+\-*(),])""",
    re.VERBOSE,
)


@dataclass(slots=True)
class Words:
    """A condition for SQLGlot.

    Attributes
    ----------
    atoms : list of Name and Literal
        The columns and constants, by their numbers.
    """

    atoms: list[Name | Literal] = field(default_factory=list)
    _written: list[tuple[str, str]] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text for SQLGlot."""
        return " ".join(written for written, _ in self._written)

    def at(self, column: int) -> str:
        """Return the user's word at a place of the text."""
        ends = [*accumulate(len(written) + 1 for written, _ in self._written)]
        return self._written[min(bisect_left(ends, column), len(ends) - 1)][1]

    def write(self, text: str, lexeme: str) -> None:
        """Add a word or a sign."""
        self._written.append((text, lexeme))

    def refer(self, atom: Name | Literal, lexeme: str) -> None:
        """Add a column or a constant."""
        self.write(f'"{len(self.atoms)}"', lexeme)
        self.atoms.append(atom)


def words_of(condition: str, names: list[str], name_of: Callable[[str, bool], Name | None]) -> Words:
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
    found = _lexemes(condition)
    # Behind the end are empty words, so that the next ones can be looked at.
    texts, kinds = [*(text for _, text in found), *[""] * 3], [*(kind for kind, _ in found), ""]
    words, at = Words(), 0
    while at < len(found):
        kind, text, after = kinds[at], texts[at], texts[at + 1]
        word = text.lower() if kind == "word" else ""
        if word == "date" and kinds[at + 1] == "text":
            words.refer(Literal("date", day(_unquoted(after))), after)
            at += 1
        elif word == "extract" and after == "(" and texts[at + 3].lower() == "from":
            words.write(PREFIX + _function(texts[at + 2].lower(), PARTS) + " (", text)
            at += 3
        elif word and after == "(" and word not in _BEFORE_GROUP:
            words.write(PREFIX + _function(word, _CALLED), text)
            words.write("(", after)
            at += 1
        elif word in _KEYWORDS or word in _SHORT:
            words.write(_SHORT.get(word, word), text)
            if word == "in" and after == "(":
                words.write("(", after)
                at += 1
        elif text == "(":
            words.write(f"{GROUP} (", text)
        elif kind == "sign":
            words.write(text, text)
        else:
            words.refer(_atom(kind, text, names, name_of), text)
        at += 1
    return words


def day(text: str) -> datetime.date:
    """Return the day of a text such as 2026-07-01."""
    try:
        if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
            return datetime.date.fromisoformat(text)
    except ValueError:
        pass
    raise refused(f"has {received(text)}, which is not a date; write one as in date '2026-07-01'")


def _atom(kind: str, text: str, names: list[str], name_of: Callable[[str, bool], Name | None]) -> Name | Literal:
    if kind == "text":
        if len(text) - 2 > _LONGEST_TEXT:
            raise refused(f"has a text of more than {_LONGEST_TEXT} characters")
        return Literal("text", _unquoted(text))
    if kind == "number":
        if len(text) > _LONGEST_NUMBER:
            raise refused(f"has a number of more than {_LONGEST_NUMBER} digits")
        return Literal("real", Decimal(text)) if "." in text else Literal("integer", int(text))
    name = text[1:-1].replace('""', '"') if kind == "quoted" else text
    column = name_of(name, kind == "quoted")
    if column is None:
        raise refused(f"names {received(name)}, which is not a column of the table{meant(name, names)}")
    return column


def _function(name: str, known: frozenset[str]) -> str:
    if name not in known:
        raise refused(f"calls {name}; the functions are {', '.join(sorted(_CALLED))}, and extract(year from ...)")
    return name


def _unquoted(text: str) -> str:
    return text[1:-1].replace("''", "'")


def _lexemes(condition: str) -> list[tuple[str, str]]:
    """Return the kind and the text of each word, sign, number and text; their numbers are limited."""
    if len(condition) > _LONGEST:
        raise refused(f"has {len(condition)} characters, more than {_LONGEST}")
    found: list[tuple[str, str]] = []
    at = deep = 0
    while at < len(condition):
        lexeme = _LEXEME.match(condition, at)
        if lexeme is None:
            raise refused(_unread(condition, at))
        kind, text, at = str(lexeme.lastgroup), lexeme.group(), lexeme.end()
        if kind == "comment":
            raise refused(f"has a comment at character {lexeme.start() + 1}")
        if kind != "space":
            found.append((kind, text))
        deep += (text == "(") - (text == ")")
        if deep > DEEPEST:
            raise refused(f"has parentheses more than {DEEPEST} deep")
    if not found:
        raise refused("is empty")
    texts = [text.lower() for kind, text in found if kind in ("word", "sign")]
    for most, many, what in (
        (_MOST_OPERATORS, sum(text in _KEYWORDS or (text in _SHORT) or text[0] in "<>=!+-*" for text in texts), "operators"),
        (_MOST_PRODUCTS, texts.count("*"), "products"),
        (_MOST_CALLS, sum(text in _CALLED or text == "extract" for text in texts), "calls of functions"),
    ):
        if many > most:
            raise refused(f"has more than {most} {what}")
    return found


def _unread(condition: str, at: int) -> str:
    """Describe the text at a place where no word begins."""
    character = condition[at]
    if character == ";":
        return f"has a semicolon at character {at + 1}"
    if character in "'\"":
        return f"has a quote at character {at + 1} that is not closed, or a backslash after it"
    if character.isascii() and character.isalnum():
        found = re.match(r"[\w.$'\"]+", condition[at:])
        assert found is not None
        hint = "" if found.group().isascii() else _QUOTE_IT
        return f"has {received(found.group())} at character {at + 1}, which is neither a column nor a plain number{hint}"
    hint = _QUOTE_IT if character.isalpha() else ""
    return f"has {received(character)} at character {at + 1}{hint}"
