"""Keyed releases against tests/vectors/keyed.json, which an oracle wrote. Deterministic: no false alarms."""

import datetime
import random
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import stairnoise as sn
from stairnoise.registry import BY_NAME, ROWS
from tests.oracles import gaussian, keyed
from tests.oracles.generate import keyed as generate
from tests.oracles.generate.encoding import decoded, read
from tests.oracles.release import output, quotient, residue

ENTRIES = read("keyed")
INPUTS = ("secret", "release", "statistic", "bind", "law", "arguments", "partitions")
each_entry = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: f"{entry['law']}-{entry['partitions']}-{entry['bind']}")


def mechanism_of(entry: dict[str, Any]) -> Any:
    stated = {"sensitivity": 1} if entry["law"] == "discrete_canonical" else {}
    return BY_NAME[entry["law"]].load()(*generate.decoded_arguments(entry["arguments"]), **stated)


def keyed_of(entry: dict[str, Any]) -> sn.KeyedRng:
    return sn.KeyedRng(bytes.fromhex(entry["secret"]), entry["release"], bind=entry["bind"])


def label(one: Any) -> Any:
    """Return a label of the vectors as a user's value."""
    tag, content = one
    if tag == "D":
        day = int(content)
        in_range = -719162 <= day <= 2932896  # the years 1 to 9999, which Python's dates have
        return datetime.date(1970, 1, 1) + datetime.timedelta(day) if in_range else np.datetime64(day, "D")
    made = {
        "N": lambda: None,
        "I": lambda: int(content),
        "Y": lambda: bytes.fromhex(content),
        "T": lambda: tuple(map(label, content)),
    }
    return made[tag]() if tag in made else content


def one(mechanism: Any, keyed: sn.KeyedRng, entry: dict[str, Any], case: Any) -> Any:
    """Return the release of a single row."""
    return mechanism.release(
        decoded(case[1]),
        labels=[label(case[0])] if case[0][0] == "N" else label(case[0]),
        statistic=entry["statistic"],
        max_partitions_contributed=entry["partitions"],
        rng=keyed,
    )


@each_entry
def test_all_rows_at_once_are_the_rows_one_by_one(entry: dict[str, Any]) -> None:
    mechanism, keyed = mechanism_of(entry), keyed_of(entry)
    alone = [one(mechanism, keyed, entry, case) for case in entry["cases"]]
    values = [decoded(case[1]) for case in entry["cases"]]
    # Categories are given as integers only.
    released = mechanism.release(
        np.array(values, int if set(map(type, values)) == {int} else float),
        labels=[label(case[0]) for case in entry["cases"]],
        statistic=entry["statistic"],
        max_partitions_contributed=entry["partitions"],
        rng=keyed,
    )
    assert np.array_equal(released, np.array(alone, float))


@each_entry
def test_noise_is_that_of_the_oracle(entry: dict[str, Any]) -> None:
    mechanism, keyed = mechanism_of(entry), keyed_of(entry)
    granularity = Fraction(mechanism.for_partitions(entry["partitions"]).granularity)
    for case in entry["cases"]:
        values, noise = (part if isinstance(part, list) else [part] for part in (decoded(case[1]), case[4]))
        sums = [quotient(value, granularity) + steps for value, steps in zip(values, noise, strict=True)]
        if entry["law"] == "randomized_response":
            sums = [residue(n, mechanism.categories) for n in sums]
        released = np.ravel(one(mechanism, keyed, entry, case))
        assert released.tolist() == [output(n, granularity, released.dtype.name) for n in sums], case


@each_entry
def test_mechanisms_have_the_parameters_of_the_contract(entry: dict[str, Any]) -> None:
    def listed(parameters: dict[str, Any]) -> list[Any]:
        return [
            [name, generate.encoded_parameter(list(one) if isinstance(one, tuple) else one)] for name, one in parameters.items()
        ]

    mechanism = mechanism_of(entry)
    assert listed(mechanism._exact_parameters()) == entry["parameters"]
    assert listed(mechanism.for_partitions(entry["partitions"])._exact_parameters()) == entry["drawn"]


def test_every_mechanism_has_vectors() -> None:
    assert {entry["law"] for entry in ENTRIES} == {row.name for row in ROWS}


@each_entry
def test_fingerprints(entry: dict[str, Any]) -> None:
    values = [decoded(case[1]) for case in entry["cases"]]
    found = keyed_of(entry).fingerprint(np.array(values, float), [label(case[0]) for case in entry["cases"]])
    assert found == entry["fingerprint"]


@pytest.mark.parametrize(
    "entries", [random.Random("keyed").sample(ENTRIES, 4), pytest.param(ENTRIES, marks=pytest.mark.long)], ids=["some", "all"]
)
def test_vectors_are_what_the_oracle_makes(entries: list[dict[str, Any]]) -> None:
    for entry in entries:
        inputs = {name: entry[name] for name in INPUTS} | {"cases": [case[:2] for case in entry["cases"]]}
        assert generate.entry(inputs) == entry


def test_a_decimal_is_the_label_of_its_integer() -> None:
    keyed = keyed_of(ENTRIES[0])
    mechanism = sn.DiscreteLaplace(0.01)
    found = [
        mechanism.release(3, labels=label, statistic="s", rng=keyed) for label in (Decimal(10**30), 10**30, Decimal("1E+30"))
    ]
    assert len(set(found)) == 1


@pytest.mark.parametrize("k", [1, 5])
def test_gaussian_noise_of_a_sigma(k: int) -> None:
    """The oracle computes the row's key, and its noise."""
    secret, sigma, change = bytes(range(32)), 2.5, 1.5

    def parameters(values: int) -> list[tuple[str, Any]]:
        log2_g, sigma2, _ = gaussian.of_sigma(sigma, change, values)
        return [("sigma", sigma), ("sensitivity", change), ("sigma2", sigma2), ("log2_granularity", log2_g)]

    asked, drawn = keyed.mechanism("gaussian", parameters(1)), keyed.mechanism("gaussian", parameters(k))
    head = keyed.head("r", "count", asked, k, drawn, "value")
    key = keyed.row(secret, head, "value", ("S", "a"), 12)
    (_, _, (_, sigma2), (_, log2_g)) = parameters(k)
    granularity = Fraction(2) ** log2_g
    expected = output(quotient(12, granularity) + gaussian.at(sigma2, key, 0, 0).value, granularity, "float64")
    mechanism = sn.Gaussian(sigma=sigma, sensitivity=change)
    rng = sn.KeyedRng(secret, "r")
    assert mechanism.release(12, labels="a", statistic="count", max_partitions_contributed=k, rng=rng) == expected
