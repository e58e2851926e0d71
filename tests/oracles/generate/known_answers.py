"""python/stairnoise/data/known_answers.json: a part of the vector files that the public interface can replay, for the self-test.

Numbers are JSON numbers, which Python writes and reads without loss; words and keys are hexadecimal, seeds decimal strings.
"""

import json
import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from tests.oracles import release
from tests.oracles.generate import mechanisms as mechanisms
from tests.oracles.generate.encoding import decoded, float_of, read, shape_of

FILE = Path(__file__).resolve().parents[3] / "python" / "stairnoise" / "data" / "known_answers.json"
# A replay draws an empty fill for every earlier fill.
MOST_FILLS = 300
EVERY_FILL, EVERY_RELEASE, EVERY_SELECTION, EVERY_PARTITIONS = 7, 4, 2, 3
EVERY_FLIPS, EVERY_TOP = 2, 2
EVERY_THRESHOLD = 3
BIT_GENERATORS = 4
NAMES = {
    "laplace": "Laplace",
    "discrete_laplace": "DiscreteLaplace",
    "staircase": "Staircase",
    "discrete_staircase": "DiscreteStaircase",
    "generalized": "GeneralizedDiscreteLaplace",
    "multi_scale": "MultiScaleDiscreteLaplace",
    "arete": "Arete",
}


def known_answers() -> dict[str, list[Any]]:
    return {
        "words": list(words()),
        "draws": [*fills(), *gaussians(), *segments(), *divisible(), *vectors()],
        "releases": [*releases(), *calibrations()],
        "selections": list(selections()),
        "partitions": list(partitions()),
        "tops": list(tops()),
        "bit_generators": read("bit_generator")[:BIT_GENERATORS],
    }


def text() -> str:
    """One entry per line, so that a change shows as the lines it touches."""
    parts = []
    for name, entries in known_answers().items():
        lines = ",\n".join(json.dumps(entry, separators=(",", ":"), allow_nan=False) for entry in entries)
        parts.append(f'"{name}":[\n{lines}\n]')
    return "{" + ",\n".join(parts) + "}\n"


def words() -> Iterator[dict[str, Any]]:
    for entry in read("stream"):
        near = [place for place in entry["words"] if place[0] <= MOST_FILLS]
        yield {"key": entry["key"], "words": near, "children": [child for child in entry["children"] if child[0] <= MOST_FILLS]}


def drawn(mechanism: str, arguments: list[Any], entry: dict[str, Any]) -> dict[str, Any]:
    place = {name: entry.get(name, 0) for name in ("seed", "fill", "index")}
    return {"law": mechanism, "arguments": arguments, **place, "log2_g": entry.get("log2_g", 0), "values": entry["values"]}


def arguments_of(entry: dict[str, Any]) -> list[Any]:
    """Return eps, sensitivity, and the shape if there is one; discrete mechanisms get integers."""
    number: Any = int if entry["kind"].startswith("discrete") else float
    shape = shape_of(entry["shape"])
    shapes = [] if shape is None else [shape if isinstance(shape, str) else number(shape)]
    return [float_of(entry["eps"]), number(float_of(entry["sensitivity"])), *shapes]


def fills() -> Iterator[dict[str, Any]]:
    """Every fill in which a value needs an extension word or is near an edge, and one in seven of the others."""
    for number, entry in enumerate(read("fills")):
        if any(entry["extensions"]) or number % EVERY_FILL == 0:
            yield drawn(NAMES[entry["kind"]], arguments_of(entry), entry)
    for entry in read("near_edges"):
        yield drawn(NAMES[entry["kind"]], arguments_of(entry), entry)


def gaussians() -> Iterator[dict[str, Any]]:
    for entry in read("discrete_gaussian"):
        yield drawn("DiscreteGaussian", [float_of(entry["sigma2"])], entry)


def numbers(arguments: Any) -> Any:
    if isinstance(arguments, list):
        return [numbers(argument) for argument in arguments]
    return None if arguments is None else float_of(arguments)


def segments() -> Iterator[dict[str, Any]]:
    for name in mechanisms.oracles():
        mechanism = name.title().replace("_", "")
        for entry in read(name):
            yield drawn(mechanism, decoded(entry["arguments"]), entry)


def divisible() -> Iterator[dict[str, Any]]:
    for entry in read("infinitely_divisible"):
        parameters = numbers(entry["parameters"])
        if entry["law"] == "multi_scale":
            parameters[1] = int(parameters[1])
        yield drawn(NAMES[entry["law"]], [*parameters, entry["n_parties"], entry["present"]], entry)


def vectors() -> Iterator[dict[str, Any]]:
    for entry in read("multivariate"):
        gamma = shape_of(entry["gamma"])
        arguments = [float_of(entry["eps"]), float_of(entry["sensitivity"]), entry["dim"], gamma, entry["norm"]]
        whole = entry["count"] - entry["count"] % entry["dim"]
        yield drawn("MultivariateStaircase", arguments, entry | {"values": entry["values"][:whole]})


def released(mechanism: str, arguments: list[Any], partitions: int, entry: dict[str, Any]) -> dict[str, Any]:
    kept = {name: entry[name] for name in ("seed", "type", "values", "outputs")}
    return {"law": mechanism, "arguments": arguments, "partitions": partitions, **kept}


def releases() -> Iterator[dict[str, Any]]:
    for entry in read("release")[::EVERY_RELEASE]:
        values = [int(v) if entry["type"] == "int64" else float_of(v) for v in entry["values"]]
        outputs = {
            dtype: [float_of(x) if dtype.startswith("float") else x for x in entry[dtype]]
            for dtype in ("float64", "float32", "int64", "int32")
            if dtype in entry
        }
        # Answers that do not fit the lattice are refused. Zeros replace them, and release their noise.
        granularity = Fraction(2) ** entry["log2_g"]
        for place, (q, noise) in enumerate(zip(entry["q"], entry["noise"], strict=True)):
            if abs(int(q)) == release.LARGEST_QUOTIENT:
                values[place] = 0 if entry["type"] == "int64" else 0.0
                for dtype, answers in outputs.items():
                    answers[place] = release.output(noise, granularity, dtype)
        given = entry | {"values": values, "outputs": outputs}
        yield released(NAMES[entry["kind"]], arguments_of(entry), entry["max_partitions_contributed"], given)


def calibrations() -> Iterator[dict[str, Any]]:
    """Gaussian releases of zeros, which are the noise."""
    for entry in read("gaussian"):
        granularity = Fraction(2) ** entry["log2_g"]
        outputs = {
            dtype: [float(release.output(n, granularity, dtype)) for n in entry["values"]] for dtype in ("float64", "float32")
        }
        arguments = [float_of(entry[name]) for name in ("eps", "delta", "sensitivity")]
        given = entry | {"type": "float64", "values": [0.0] * entry["count"], "outputs": outputs}
        yield released("Gaussian", arguments, entry["partitions"], given)


def selections() -> Iterator[dict[str, Any]]:
    for entry in read("selection")[::EVERY_SELECTION]:
        gamma = None if entry["gamma"] is None else float_of(entry["gamma"])
        mechanism = "ExponentialMechanism" if gamma is None else "StaircaseSelection"
        shape = [] if gamma is None else [gamma]
        arguments = [float_of(entry["eps"]), float_of(entry["sensitivity"]), *shape, entry["monotonic"]]
        many = {name: entry[name] for name in ("multiplicities",) if name in entry}
        # JSON has no infinite numbers.
        if all(map(math.isfinite, numbers(entry["costs"]))):
            yield drawn(mechanism, arguments, entry) | {"costs": numbers(entry["costs"])} | many
    for entry in read("permute_and_flip")[::EVERY_FLIPS]:
        arguments = [float_of(entry["eps"]), float_of(entry["sensitivity"]), entry["monotonic"]]
        if all(map(math.isfinite, numbers(entry["costs"]))):
            yield drawn("PermuteAndFlip", arguments, entry) | {"costs": numbers(entry["costs"])}


def tops() -> Iterator[dict[str, Any]]:
    for entry in read("top")[::EVERY_TOP]:
        gamma = None if entry["gamma"] is None else float_of(entry["gamma"])
        mechanism = "StaircaseSelection" if gamma is not None else "PermuteAndFlip" if entry["flips"] else "ExponentialMechanism"
        arguments = [
            float_of(entry["eps"]),
            float_of(entry["sensitivity"]),
            *([] if gamma is None else [gamma]),
            entry["monotonic"],
        ]
        if all(map(math.isfinite, numbers(entry["costs"]))):
            yield drawn(mechanism, arguments, entry) | {"costs": numbers(entry["costs"]), "k": entry["k"]}


def partitions() -> Iterator[dict[str, Any]]:
    gaussian = [entry for entry in read("gaussian_threshold") if entry["sigma2"]]
    for entry in read("partition_selection")[::EVERY_PARTITIONS] + gaussian[::EVERY_THRESHOLD]:
        kept = {name: entry[name] for name in ("seed", "fill", "index", "values")}
        arguments = [float_of(entry["eps"]), float_of(entry["delta"]), entry["k"]]
        yield {"law": "PartitionSelection", "arguments": arguments, **kept, "counts": list(map(int, entry["counts"]))}
