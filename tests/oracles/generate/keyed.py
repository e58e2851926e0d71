"""keyed.json: addresses of every kind, the masks of their rows, and the noise.

An oracle with `KEYED` has its own cases, arguments and k, which come last. Its `address` has the parameters of these arguments,
and `ANSWERS` has true answers.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from tests.oracles import (
    discrete_canonical,
    draw,
    gaussian,
    keyed,
    lattice_noise,
    merged_laplace,
    multivariate,
    partitions,
    release,
    segments,
    truncated_discrete_staircase,
    truncated_laplace,
    truncated_staircase,
)
from tests.oracles.generate import infinitely_divisible, mechanisms
from tests.oracles.generate.encoding import decoded, encoded
from tests.oracles.lattice import lattice
from tests.oracles.lattice import mechanism as mechanism_of

SECRETS = (bytes(range(32)), b"\xff" * 32)
LABELS: tuple[keyed.Label, ...] = (
    ("N", None),
    ("B", False),
    ("B", True),
    *(("I", n) for n in (0, 1, -1, 127, 128, -128, -129, 2**31, -(2**63), 2**63 - 1, 2**63, -(2**63) - 1, 10**30)),
    *(("S", text) for text in ("", "1", "north", "Größe", "Gro\u0308ße", "数\U0001f600", "a\0b", "x" * 29, "x" * 30, "x" * 200)),
    *(("Y", data) for data in (b"", b"1", b"\xff\0")),
    *(("D", day) for day in (0, -1, 20000, -719162, 2932896, 10**9)),
    ("T", []),
    ("T", [("N", None)]),
    ("T", [("S", "ab")]),
    ("T", [("S", "a"), ("S", "b")]),
    ("T", [("T", [("S", "a")]), ("S", "b"), ("I", 3)]),
)
WHOLE: tuple[keyed.Value, ...] = (0, 1, -1, 3.0, -0.0, 255, 256, 10**6, -(2**40), 2**53 + 2, 2**62, 1e20, -1e20)
ANY: tuple[keyed.Value, ...] = (*WHOLE, 0.5, -0.1, 5e-324)
VECTORS: tuple[keyed.Value, ...] = ([1, 2], [0.0, -7.0], [2**40, 3])

ORACLES = mechanisms.oracles()

# Name, arguments of the class in order, and k.
CASES: tuple[tuple[str, list[Any], int], ...] = (
    ("laplace", [1.0, 1.0], 1),
    ("laplace", [1.0, 1.0], 3),
    ("discrete_laplace", [1.0, 1], 1),
    ("discrete_laplace", [0.01, 3], 2),
    ("staircase", [4.0, 0.3, "l1"], 1),
    ("staircase", [0.05, 10.0, 0.25], 7),
    ("discrete_staircase", [0.3, 100, 30], 1),
    ("discrete_staircase", [1.0, 50, "l2"], 2),
    ("truncated_laplace", [0.7, 2.5e-6, 1.0, None, None], 1),
    ("truncated_laplace", [2.0, 0.05, 0.1, -0.2084, None], 1),
    ("truncated_laplace", [1.0, 1e-6, 1.0, None, None], 2),
    ("merged_laplace", [[0.2, 0.25, 1 / 3], [1.0, 3.0], 1.0], 1),
    ("merged_laplace", [[16.0, 4.0], [0.125], 1.0], 2),
    ("arete", [0.5, 1.0, 0.25, 1, 1], 1),
    ("arete", [0.5, 1.0, 0.25, 10, 4], 1),
    ("generalized_discrete_laplace", [1.5, 0.4, 10, 5], 1),
    ("multi_scale_discrete_laplace", [5.0, 3, 100, 50], 3),
    ("discrete_gaussian", [150.0], 1),
    ("discrete_gaussian", [100.0], 3),
    ("gaussian", [1.0, 1e-6, 1.0], 1),
    ("gaussian", [0.5, 1e-9, 3.0], 5),
    ("multivariate_staircase", [1.0, 1.0, 2, 0.5, "l1"], 1),
    ("multivariate_staircase", [3.0, 0.7, 2, "l2", "l2"], 1),
    ("truncated_discrete_staircase", [1.0, 1e-6, 10, "l2", 0, None], 1),
    ("truncated_staircase", [4.0, 1e-3, 0.3, 0.25, None, None], 2),
    ("truncated_staircase", [2.0, 1e-6, 1.0, "l1", None, -1.0], 3),
    ("lattice_noise", [[0.0, 0.75, 1.5, 0.375, 0.0], None, 1.0, 1.0], 1),
    ("lattice_noise", [[0.1, 0.3, 0.7], 0.5, 0.25, 0.5], 1),
    ("skellam", [150.0, 2, 10, 4], 1),
    ("skellam", [0.5, 1, 1, 1], 3),
    ("discrete_canonical", [1.0, 1e-6], 1),
    ("discrete_canonical", [0.3, 0.01], 3),
    ("discrete_canonical", [1.0, -0.0], 1),
    ("discrete_canonical", [2.0, -0.0], 2),
    *((name, arguments, k) for name, oracle in ORACLES.items() for arguments, k in getattr(oracle, "KEYED", ())),
)
TRUNCATED_STAIRCASES: dict[str, Any] = {
    "truncated_staircase": truncated_staircase,
    "truncated_discrete_staircase": truncated_discrete_staircase,
}
OF_ONE_WORD = ("laplace", "discrete_laplace", "staircase", "discrete_staircase")


def exact(name: str, arguments: list[Any], k: int = 1) -> list[tuple[str, Any]]:
    """The parameters of a mechanism by which an address has it; for a Gaussian distribution, of the one for k values."""
    if hasattr(ORACLES.get(name), "address"):
        return list(ORACLES[name].address(*arguments))
    if name in OF_ONE_WORD:
        eps, sensitivity, *shape = arguments
        return [("eps", eps), ("sensitivity", sensitivity), *(("r", lattice(name, *arguments).r) for _ in shape)]
    if name == "truncated_laplace":
        ends = truncated_laplace.lengths(truncated_laplace.mechanism(*arguments)[1])
        return [
            *zip(("eps", "delta", "sensitivity"), arguments, strict=False),
            ("below", ends["below"]),
            ("above", ends["above"]),
        ]
    if name in TRUNCATED_STAIRCASES:
        own = truncated_staircase.lengths(TRUNCATED_STAIRCASES[name].mechanism(*arguments)[1])
        return [
            *zip(("eps", "delta", "sensitivity"), arguments, strict=False),
            *((length, own[length]) for length in ("r", "end", "centre")),
        ]
    if name == "discrete_canonical":
        eps, delta = arguments
        discrete_canonical.mechanism(eps, delta)
        # −0.0 becomes 0.0.
        return [("eps", eps), ("delta", delta + 0.0)]
    if name == "merged_laplace":
        breaks = merged_laplace.lengths(merged_laplace.mechanism(*arguments)[1])["breaks"]
        return [("eps", arguments[0]), ("breaks", breaks), ("sensitivity", arguments[2])]
    if name == "lattice_noise":
        whole = lattice_noise.least_integers(lattice_noise.mechanism(*arguments)[1])
        return [
            ("weights", whole),
            ("tail_ratio", arguments[1] or 0.0),
            ("granularity", arguments[2]),
            ("sensitivity", arguments[3]),
        ]
    if name == "gaussian":
        log2_g, sigma2, _ = gaussian.calibrate(*arguments, k)
        given = zip(("eps", "delta", "sensitivity"), arguments, strict=True)
        return [*given, ("sigma2", sigma2), ("log2_granularity", log2_g)]
    if name == "multivariate_staircase":
        eps, sensitivity, dim, _, norm = arguments
        r = multivariate.mechanism(*arguments).r
        return [("eps", eps), ("sensitivity", sensitivity), ("dim", dim), ("norm", norm), ("r", r)]
    names = {
        "arete": ("alpha", "theta", "lam"),
        "generalized_discrete_laplace": ("beta", "a"),
        "multi_scale_discrete_laplace": ("eps", "sensitivity"),
        "skellam": ("mu", "sensitivity"),
        "discrete_gaussian": ("sigma2",),
    }[name]
    given = list(zip(names, arguments, strict=False))
    if name == "discrete_gaussian":
        return given
    part = Fraction(arguments[-1], arguments[-2])
    return [*given, ("n_parties", part.denominator), ("present", part.numerator)]


def for_partitions(name: str, arguments: list[Any], k: int) -> list[Any]:
    """Return the arguments of each value's mechanism; a Gaussian mechanism keeps its own."""
    if k == 1 or name == "gaussian":
        return arguments
    if name in ("truncated_laplace", "discrete_canonical") or name in TRUNCATED_STAIRCASES:
        return [*partitions.truncated(arguments[0], arguments[1], k), *arguments[2:]]
    if name == "merged_laplace":
        return [partitions.merged(*arguments, k), *arguments[1:]]
    if name in ("discrete_gaussian", "skellam"):
        exactly = Fraction(arguments[0]) * k
        assert float(exactly) == exactly
        return [float(exactly), *arguments[1:]]
    return [release.share(arguments[0], k), *arguments[1:]]


def steps(name: str, arguments: list[Any], parameters: dict[str, Any], key: bytes) -> int | list[int]:
    """Return value 0 of fill 0 of the mechanism that is drawn, in steps of its lattice; the coordinates of a vector."""
    if name in OF_ONE_WORD:
        return draw.at(mechanism_of(arguments[0], lattice(name, *arguments)), key, 0, 0).value
    if name in ORACLES:
        oracle: Any = ORACLES[name]
        return int(getattr(oracle, "value", segments.value)(oracle.mechanism(*arguments)[1], key, 0, 0))
    if name in ("gaussian", "discrete_gaussian"):
        return gaussian.at(parameters["sigma2"], key, 0, 0).value
    if name == "multivariate_staircase":
        return multivariate.mechanism(*arguments).vector(key, 0, 0)
    part = Fraction(arguments[-1], arguments[-2])
    drawn = infinitely_divisible.DRAW[name.removesuffix("_discrete_laplace")]
    return drawn(*arguments[:-2], part, key, 0, 0)


def entry(inputs: dict[str, Any]) -> dict[str, Any]:
    """Inputs of an entry, completed by the oracle."""
    name, arguments, k, bind = inputs["law"], decoded_arguments(inputs["arguments"]), inputs["partitions"], inputs["bind"]
    divided = for_partitions(name, arguments, k)
    asked, drawn = exact(name, arguments), exact(name, divided, k)
    secret = bytes.fromhex(inputs["secret"])
    head = keyed.head(inputs["release"], inputs["statistic"], keyed.mechanism(name, asked), k, keyed.mechanism(name, drawn), bind)
    cases = []
    for written, number in inputs["cases"]:
        key = keyed.row(secret, head, bind, label_of(written), decoded(number))
        noise = steps(name, divided, dict(drawn), key)
        cases.append([written, number, keyed.label(label_of(written)).hex(), key[32:].hex(), noise])
    rows = [(label_of(written), decoded(number)) for written, number in inputs["cases"]]
    return inputs | {
        "parameters": [[key, encoded_parameter(one)] for key, one in asked],
        "drawn": [[key, encoded_parameter(one)] for key, one in drawn],
        "head": head.hex(),
        "keys": [key.hex() for key in keyed.keys(secret, head)],
        "cases": cases,
        "fingerprint": keyed.fingerprint(secret, inputs["release"], rows).hex(),
    }


def entries() -> Iterator[dict[str, Any]]:
    for number, (name, arguments, k) in enumerate(CASES):
        bind = "label" if number % 4 == 3 else "value"
        numbers = VECTORS if name.startswith("multivariate") else WHOLE if bind == "value" else ANY
        numbers = getattr(ORACLES.get(name), "ANSWERS", numbers)
        # The first entry has all labels and all values, the others some of both.
        labels = LABELS if number == 0 else LABELS[number % 5 :: 5]
        if number == 2:
            labels = (*labels, *(("I", 1000 + place) for place in range(len(numbers) - len(labels))))
        yield entry(
            {
                "secret": SECRETS[number % 2].hex(),
                "release": ("households 2026-Q3", "Größe", "r")[number % 3],
                "statistic": ("count", "sum of income")[number % 2],
                "bind": bind,
                "law": name,
                "arguments": encoded_arguments(arguments),
                "partitions": k,
                "cases": [[written(one), encoded(numbers[place % len(numbers)])] for place, one in enumerate(labels)],
            }
        )


def written(one: keyed.Label) -> list[Any]:
    """A label in JSON: its tag, and integers as text, bytes as hexadecimal digits."""
    tag, content = one
    if tag == "T":
        return [tag, [written(part) for part in content]]
    if tag in "ID":
        return [tag, str(content)]
    return [tag, content.hex() if tag == "Y" else content]


def label_of(one: list[Any]) -> keyed.Label:
    tag, content = one
    if tag == "T":
        return tag, [label_of(part) for part in content]
    if tag in "ID":
        return tag, int(content)
    return tag, bytes.fromhex(content) if tag == "Y" else content


def encoded_parameter(one: Any) -> Any:
    """Return a float64 as bits after a colon, which no text has."""
    if isinstance(one, list):
        return [encoded_parameter(part) for part in one]
    return ":" + encoded(one) if isinstance(one, float) else one


def encoded_arguments(arguments: list[Any]) -> list[Any]:
    return [encoded_parameter(one) for one in arguments]


def decoded_arguments(arguments: Any) -> Any:
    if isinstance(arguments, list):
        return [decoded_arguments(one) for one in arguments]
    return decoded(arguments[1:]) if isinstance(arguments, str) and arguments.startswith(":") else arguments
