"""What a condition means: SQLGlot finds out what belongs together, and what is not listed here is refused."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from stairnoise._optional import MissingPackageError, require
from stairnoise.query.condition.tree import PARTS, Call, Condition, Literal, Name, Node, check, refused
from stairnoise.query.condition.words import DEEPEST, GROUP, PREFIX, NameOf, Words, day, words_of

# As in pyproject.toml; the tests run at both ends.
VERSIONS = (27, 29), (30, 30)
_LOGIC = {"And": "and", "Not": "not", "Or": "or"}
_SUMS = {"Add": "+", "Mul": "*", "Neg": "-", "Sub": "-"}
_COMPARED = {"EQ": "=", "NEQ": "<>", "LT": "<", "LTE": "<=", "GT": ">", "GTE": ">=", "Between": "between", "In": "in"}
_COMPARED |= {"NullSafeEQ": "is not distinct from", "NullSafeNEQ": "is distinct from"}
# The arguments that a node of SQLGlot may have. Another one that is set can have a meaning, so it is refused.
_ARGUMENTS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys([*_COMPARED, *_SUMS, *_LOGIC, "Is"], ("this", "expression")),
    **dict.fromkeys(["Boolean", "Column", "Neg", "Not", "Paren"], ("this",)),
    **dict.fromkeys(["ILike", "Like"], ("this", "expression", "negate")),
    **dict.fromkeys(["Anonymous", "In"], ("this", "expressions")),
    "Between": ("this", "low", "high"),
    "Case": ("this", "ifs", "default"),
    "Identifier": ("this", "quoted"),
    "If": ("this", "true"),
    "Null": (),
}
_PREDICATES = {*_COMPARED, "ILike", "Is", "Like", "Not"}
# A pattern takes time in proportion to the product of both lengths. With these limits and those of the words, the time for one
# row depended on the row by at most 0.23 ms, in SQLite; without them by 47 ms.
_LONGEST_PATTERN = 100
_MOST_WILDCARDS = 5
_MOST_PATTERNS = 10
# Numbers of arguments, if there can be other than one.
_ARITIES = {"coalesce": range(2, 51), "nullif": range(2, 3), "substr": range(2, 4)}
_NULL = Literal("null", None)
_NUMBERS = ("integer", "decimal", "real")
# Of values that are compared, all get the kind that comes last.
_KINDS = ("null", "text", *_NUMBERS, "date", "timestamp", "boolean", "any")
# Constants that are read as of another kind: None if that is not possible.
_READ: dict[tuple[str, str], Callable[[Any], object]] = {
    ("integer", "boolean"): {0: False, 1: True}.get,
    ("integer", "real"): Decimal,
    ("real", "decimal"): Decimal,
    ("text", "date"): day,
    ("date", "timestamp"): datetime.date.isoformat,
}
# Values that engines compare without a conversion of ours.
_COMPARABLE = {("integer", "decimal"), *((kind, "any") for kind in (*_NUMBERS, "text", "boolean")), ("any", "text")}


def judged(condition: str, names: list[str], name_of: NameOf, remedy: Callable[[str], str]) -> Condition:
    """Return a condition as a tree of columns that exist and of values whose types fit, or refuse it.

    Parameters
    ----------
    condition : str
        What a user wrote.
    names : list of str
        The columns that an error can suggest.
    name_of : function
        The rule of the engine: it takes a name, and whether the name was quoted, and returns the column.
    remedy : function
        It returns what to do about a column that is a text but should be of another type.

    Raises
    ------
    ParameterError
        The condition is not an expression on one row, or two engines could read it differently.
    MissingPackageError
        SQLGlot is not installed, or in another version than those that are tested.
    """
    words = words_of(condition, names, name_of)
    judge = _Judge(words.atoms, remedy)
    return Condition(judge.truth(_parsed(words)), frozenset(judge.computes))


def _parsed(words: Words) -> Any:
    needs, install = "a condition needs", "'stairnoise[query]'"
    sqlglot = require("sqlglot", needs, install)
    if not VERSIONS[0] <= tuple(map(int, re.findall("[0-9]+", sqlglot.__version__)[:2])) <= VERSIONS[1]:
        lowest, highest = (".".join(map(str, end)) for end in VERSIONS)
        got = f"{needs} sqlglot from {lowest} to {highest}, got {sqlglot.__version__}"
        raise MissingPackageError(f"{got}: pip install {install}", name="sqlglot")
    try:
        return sqlglot.parse_one(words.text, into=sqlglot.exp.Condition)
    except sqlglot.errors.SqlglotError as error:
        place = "".join(one.get("highlight") or "" for one in getattr(error, "errors", [])[:1]).removeprefix(PREFIX)
    except RecursionError:
        raise refused("is nested too deep") from None
    atom = re.fullmatch('"([0-9]+)"', place)
    raise refused(f"is not understood at {words.lexemes[int(atom[1])] if atom else place}")


class _Judge:
    def __init__(self, atoms: list[Name | Literal], remedy: Callable[[str], str]) -> None:
        self._atoms, self._remedy = atoms, remedy
        self._deep = self._patterns = 0
        self.computes: set[str] = set()

    def node(self, node: Any) -> Node:
        """Return the node of our own for one of SQLGlot."""
        self._deep += 1
        check(self._deep <= DEEPEST, f"is nested more than {DEEPEST} deep")
        found = self._of(node)
        self._deep -= 1
        return found

    def truth(self, node: Any) -> Node:
        """Return what must be true, false or null."""
        return self._truth(self.node(node))

    def _truth(self, node: Node) -> Node:
        return self._fit(node, "boolean", "where it must be true or false")

    def _of(self, node: Any) -> Node:
        name, children = _listed(node)
        if name == "Column":
            return self._atom(node)
        if name == "Paren":
            return self._of(*children)
        if name in ("Boolean", "Null"):
            return _NULL if name == "Null" else Literal("boolean", bool(node.this))
        if name in _LOGIC:
            return Call("boolean", _LOGIC[name], tuple(map(self.truth, _chain(node))))
        if name in _SUMS:
            return self._computed(_SUMS[name], list(map(self._operand, _chain(node))))
        if name in _COMPARED:
            check(len(children) > 1, "has IN without a list in parentheses")
            return self._compared("boolean", _COMPARED[name], list(map(self._operand, children)))
        if name == "Is":
            word = {"Null": "is null", "Boolean": f"is {children[1].this}".lower()}.get(_listed(children[1])[0], "")
            check(bool(word), "has IS before something other than null, true, false and distinct from")
            value = self._operand(children[0])
            return Call("boolean", word, (value if word == "is null" else self._truth(value),))
        if name in ("ILike", "Like"):
            return self._like(name.lower(), node)
        if name == "Case":
            return self._case(node)
        if name == "Anonymous":
            return self._called(node.this.removeprefix(PREFIX), node.expressions)
        raise refused(f"has {name}")

    def _atom(self, node: Any) -> Name | Literal:
        _, (identifier,) = _listed(node)
        _listed(identifier)
        # A keyword at a wrong place is a name without quotes.
        check(bool(identifier.args.get("quoted")), f"is not understood at {identifier.this}")
        return self._atoms[int(identifier.this)]

    def _operand(self, node: Any) -> Node:
        """Return an operand; engines differ in which of two comparisons comes first without parentheses."""
        # SQLGlot adds parentheses of its own; those of the user are groups.
        while type(node).__name__ == "Paren":
            (node,) = _listed(node)[1]
        inner = type(node).__name__ in _PREDICATES
        check(not inner, "has a comparison in a comparison; put the inner one in parentheses")
        return self.node(node)

    def _compared(self, kind: str, function: str, nodes: list[Node]) -> Call:
        """Return a call that compares its operands: texts byte by byte, which one of them decides."""
        nodes = self._matched(nodes)
        text = next((place for place, node in enumerate(nodes) if node.kind == "text"), None)
        if text is not None:
            nodes[text] = Call("text", "bytewise", (nodes[text],))
        return Call(kind or _kind_of(nodes), function, tuple(nodes))

    def _like(self, function: str, node: Any) -> Node:
        pattern = self._atom(node.expression) if type(node.expression).__name__ == "Column" else None
        if not isinstance(pattern, Literal) or pattern.kind != "text":
            raise refused("has a pattern that is not a text in quotes")
        self._patterns += 1
        check(self._patterns <= _MOST_PATTERNS, f"has more than {_MOST_PATTERNS} patterns")
        check(len(pattern.value) <= _LONGEST_PATTERN, f"has a pattern of more than {_LONGEST_PATTERN} characters")
        many = pattern.value.count("%") > _MOST_WILDCARDS
        check(not many, f"has a pattern with more than {_MOST_WILDCARDS} wildcards of any length")
        text = self._fit(self._operand(node.this), "text", "where it must be a text")
        found = Call("boolean", function, (Call("text", "bytewise", (text,)), Literal("pattern", pattern.value)))
        return Call("boolean", "not", (found,)) if node.args.get("negate") else found

    def _computed(self, function: str, nodes: list[Node]) -> Node:
        """Return a sum, a difference or a product; of integers in a wide type."""
        if len(nodes) == 1:
            if isinstance(nodes[0], Literal) and nodes[0].kind in _NUMBERS:
                return Literal(nodes[0].kind, -nodes[0].value)
            nodes = [Literal("integer", 0), *nodes]
        own = [isinstance(node, Call) and node.function in _SUMS.values() for node in nodes]
        self.computes |= {node.kind for node, wide in zip(nodes, own, strict=True) if not (wide or isinstance(node, Literal))}
        nodes = self._matched(nodes)
        kind = _kind_of(nodes)
        remedy = f"; {self._remedy('integer')}" if kind == "text" else ""
        check(kind in (*_NUMBERS, "any", "null"), f"computes with values of type {kind}{remedy}")
        if kind in ("integer", "null"):
            nodes = [node if wide else Call("integer", "wide", (node,)) for node, wide in zip(nodes, own, strict=True)]
        return Call(kind, function, tuple(nodes))

    def _case(self, node: Any) -> Node:
        branches, last = [_listed(one)[1] for one in node.args["ifs"]], node.args.get("default")
        results = self._matched([*(self.node(one) for _, one in branches), _NULL if last is None else self.node(last)])
        if node.this is None:
            function, operands = "case", [self.truth(test) for test, _ in branches]
        else:
            values = [self.node(one) for one in (node.this, *(test for test, _ in branches))]
            function, operands = "case of", list(self._compared("", "", values).operands)
        # The tests come before their results, and behind the value that they are compared with.
        first = len(operands) - len(branches)
        branched = [one for branch in zip(operands[first:], results, strict=False) for one in branch]
        return Call(_kind_of(results), function, (*operands[:first], *branched, results[-1]))

    def _called(self, function: str, nodes: list[Any]) -> Node:
        if function == GROUP:
            check(len(nodes) == 1, f"has {len(nodes)} values in parentheses")
            return self._of(nodes[0])
        check(len(nodes) in _ARITIES.get(function, [1]), f"calls {function} with {len(nodes)} arguments")
        operands = list(map(self.node, nodes))
        if function in PARTS:
            # Dialects write the operand several times.
            fits = isinstance(operands[0], Name) and operands[0].kind in ("date", "timestamp")[function == "hour" :]
            check(fits, f"takes the {function} of something other than a column of dates")
            return Call("integer", function, tuple(operands))
        if function == "nullif":
            return self._compared("", function, operands)
        if function == "coalesce":
            operands = self._matched(operands)
            return Call(_kind_of(operands), function, tuple(operands))
        # Engines differ in what they do before the beginning of a text; PostgreSQL fails for a negative length.
        whole = all(isinstance(one, Literal) and one.kind == "integer" and 0 <= one.value < 2**31 for one in operands[1:])
        check(whole, "calls substr with something other than whole numbers, none below 0")
        text = self._fit(operands[0], "text", "where it must be a text")
        return Call("integer" if function == "length" else "text", function, (text, *operands[1:]))

    def _matched(self, nodes: list[Node]) -> list[Node]:
        """Return values of one kind; literals, and then integers and decimals, take the kind of the others."""
        kinds = {node.kind for node in nodes if not isinstance(node, Literal)} - {"null"}
        kind = max(
            sorted(kinds or {node.kind for node in nodes}), key=lambda kind: _KINDS.index(kind if kind in _KINDS else "boolean")
        )
        if kind == "integer" and any(node.kind == "real" for node in nodes):
            kind = "real"
        other = next((node.kind for node in nodes if node.kind not in ("null", "text")), None)
        remedy = f"; {self._remedy(other)}" if "text" in kinds and other else ""
        return [self._fit(node, kind, f"beside one of type {kind}{remedy}") for node in nodes]

    def _fit(self, node: Node, kind: str, where: str) -> Node:
        """Return a value of a kind, or refuse it."""
        pair = node.kind, kind
        if isinstance(node, Literal):
            check(node.kind != "integer" or -(2**63) <= node.value < 2**63, "has an integer beyond 64 bits")
            value = _READ.get(pair, lambda value: None)(node.value)
            # A value of another type is read by the engine, before it reads a row.
            value = node.value if node.kind == "text" and (kind == "timestamp" or kind not in _KINDS) else value
            if value is not None:
                return Literal(kind, value)
        if node.kind in (kind, "null") or pair in _COMPARABLE:
            return node
        if kind == "real" and node.kind in _NUMBERS:
            return Call("real", "real", (node,))
        raise refused(f"has a value of type {node.kind} {where}")


def _listed(node: Any) -> tuple[str, list[Any]]:
    """Return the name of a node of SQLGlot that is on our list, and its arguments."""
    name = type(node).__name__
    given = {argument: value for argument, value in node.args.items() if value is not None and value is not False and value != []}
    unknown = set(given) - set(_ARGUMENTS.get(name, ()))
    check(name in _ARGUMENTS and not unknown, f"has {name}" + "".join(f" with {argument}" for argument in sorted(unknown)))
    children = [given[argument] for argument in _ARGUMENTS[name] if argument in given]
    return name, [one for child in children for one in (child if isinstance(child, list) else [child])]


def _chain(node: Any) -> list[Any]:
    """Return the operands of an operator that is repeated, such as a + b + c: 250 of them would be too deep for Python."""
    kind, operands = type(node), []
    while type(node) is kind and "expression" in node.args:
        operands.append(node.expression)
        _, (node, *_) = _listed(node)
    return [node if operands else node.this, *reversed(operands)]


def _kind_of(nodes: list[Node]) -> str:
    """Return the kind of values of one kind and nulls."""
    return next((node.kind for node in nodes if node.kind != "null"), "null")
