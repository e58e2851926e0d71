"""The infinitely divisible mechanisms against the oracle, bit for bit. Deterministic: no false alarms."""

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import stairnoise as sn
from tests.combinations import looped, rest_long
from tests.exactness.mechanisms import rng_before
from tests.oracles import release, stream
from tests.oracles.generate.encoding import float_of, read
from tests.oracles.generate.infinitely_divisible import DRAW
from tests.oracles.infinitely_divisible import arete_log2_g

MECHANISMS: dict[str, Any] = {
    "generalized": sn.GeneralizedDiscreteLaplace,
    "multi_scale": lambda eps, sensitivity, *rest: sn.MultiScaleDiscreteLaplace(eps, int(sensitivity), *rest),
    "arete": sn.Arete,
}
VECTORS = read("infinitely_divisible")


def of(entry: dict[str, Any]) -> Any:
    parameters = map(float_of, entry["parameters"])
    return MECHANISMS[entry["law"]](*parameters, entry["n_parties"], entry["present"])


@looped("entry", VECTORS)
def test_golden_vectors(entry: dict[str, Any]) -> None:
    mechanism, granularity = of(entry), Fraction(2) ** entry["log2_g"]
    assert Fraction(mechanism.granularity) == granularity
    for dtype in ("float64", "float32") if entry["law"] == "arete" else ("int64", "int32", "float64"):
        rng = rng_before(entry["fill"], int(entry["seed"])).at(entry["index"])
        expected = [release.output(n, granularity, dtype) for n in entry["values"]]
        drawn = mechanism.sample(entry["count"], rng=rng, dtype=dtype)
        assert drawn.tobytes() == np.array(expected, dtype).tobytes()


def test_the_vectors_are_worth_replaying() -> None:
    """Every mechanism has values other than zero, and shares too."""
    found = {(entry["law"], entry["n_parties"] > 1) for entry in VECTORS if any(entry["values"])}
    assert len(found) == 2 * len(MECHANISMS)


def parameters(mechanism: str, choose: random.Random) -> tuple[float, ...]:
    if mechanism == "generalized":
        return 2 ** choose.uniform(-8, 1), 2 ** choose.uniform(-9, 2)
    if mechanism == "multi_scale":
        return 2 ** choose.uniform(-4, 3), float(choose.randrange(1, 6))
    theta = 2 ** choose.uniform(-30, 30)
    return 2 ** choose.uniform(-6, 1), theta, theta * 2 ** choose.uniform(-6, 2)


@pytest.mark.parametrize("case", rest_long(range(3), range(6)))
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_at_parameters_nobody_chose(mechanism: str, case: int) -> None:
    choose = random.Random(f"{mechanism} {case}")
    given, n_parties = parameters(mechanism, choose), choose.choice((1, choose.randrange(2, 30)))
    present, seed = choose.randrange(1, n_parties + 1), choose.randrange(2**128)
    key, share = stream.seed_key(seed), Fraction(present, n_parties)
    granularity = Fraction(2) ** (arete_log2_g(*given[1:]) if mechanism == "arete" else 0)
    noise = MECHANISMS[mechanism](*given, n_parties, present).sample(60, rng=sn.SeededRng(seed))
    expected = [DRAW[mechanism](*given, share, key, 0, i) * granularity for i in range(60)]
    assert [Fraction(x) for x in noise.tolist()] == expected, (given, share)


def test_release_adds_the_noise_of_its_indices() -> None:
    """Releases are ⌊x/g + 1/2⌋ + X by the oracle, for integer and other answers."""
    key, answers = stream.seed_key(5), [0.3, -1e9, 7.25, 1e-9]
    mechanism = sn.Arete(0.5, 1.0, 0.25, 10)
    g = Fraction(mechanism.granularity)
    noise = [DRAW["arete"](0.5, 1.0, 0.25, Fraction(1, 10), key, 0, i) for i in range(len(answers))]
    expected = [float((release.quotient(x, g) + n) * g) for x, n in zip(answers, noise, strict=True)]
    assert mechanism.release(answers, rng=sn.SeededRng(5, allow_release=True)).tolist() == expected
    counts = sn.MultiScaleDiscreteLaplace(1.0, 2).release([3, -7], rng=sn.SeededRng(5, allow_release=True))
    noise = [DRAW["multi_scale"](1.0, 2, Fraction(1), key, 0, i) for i in range(2)]
    assert counts.tolist() == [3 + noise[0], -7 + noise[1]]
