"""What the self-test's checks rest on, each against another source: the bound, the cells, AES, the contract, the shipped answers.

Deterministic, with seeds where numbers are drawn: the same outcome in every run.
"""

import math
import random
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from scipy import stats

import stairnoise as sn
from stairnoise._selftest import contract, events, laws
from stairnoise._selftest import known_answers as answers
from stairnoise._selftest import report as machine
from stairnoise._selftest.events import Events, evidence
from tests.oracles import draw, stream
from tests.oracles.generate import known_answers
from tests.oracles.lattice import lattice, law

# Of the package that is tested, which need not be the checkout's.
SHIPPED = Path(answers.__file__).parents[1] / "data" / "known_answers.json"

# The bound


@pytest.mark.parametrize("p", [1e-6, 0.01, 0.3, 0.5, 0.999])
@pytest.mark.parametrize("n", [1, 10, 1000])
def test_the_bound_holds_for_every_count(n, p):
    """P(evidence ≥ T) ≤ 2 e^(-T) with the binomial law itself (SciPy's), at every T that can come out."""
    counts = np.arange(n + 1)
    nats = evidence(counts.astype(float), n, np.full(n + 1, p))
    probabilities = stats.binom.pmf(counts, n, p)
    for limit in nats:
        assert probabilities[nats >= limit].sum() <= 2 * math.exp(-limit) * (1 + 1e-9)


def test_evidence_of_counts():
    p = np.array([0.25, 0.25, 0.25, 0.0, 1.0, 0.0])
    found = evidence(np.array([25.0, 0.0, 100.0, 0.0, 100.0, 1.0]), 100, p)
    assert found[:3] == pytest.approx([0, -100 * math.log(0.75), 100 * math.log(4)])
    assert found[3:].tolist() == [0, 0, math.inf]


def test_slack_allows_so_much_and_no_more():
    assert evidence(np.array([30.0]), 100, np.array([0.2]), 0.1)[0] == pytest.approx(0, abs=1e-12)
    assert evidence(np.array([31.0]), 100, np.array([0.2]), 0.1)[0] == pytest.approx(
        evidence(np.array([31.0]), 100, np.array([0.3]))[0], rel=1e-9
    )
    assert math.isfinite(evidence(np.array([1.0]), 100, np.array([0.0]), 1e-8)[0])


def test_the_limit_counts_all_events():
    events = Events()
    events.add(str, [50], 100, [0.5])
    events.add(str, [10, 90], 100, [0.1, 0.9])
    outcome = events.outcome(100, 1e-3)
    assert outcome.limit == math.log(6 / 1e-3)
    assert outcome.statistic == pytest.approx(0, abs=1e-6)
    assert outcome.detail == ""


def test_the_largest_evidence_is_told():
    events = Events()
    events.add(lambda i: f"first {i}", [50, 49], 100, [0.5, 0.5])
    events.add(lambda i: f"second {i}", [10, 100], 100, [0.1, 0.2])
    assert events.outcome(100).detail == "second 1: 100 of 100, expected 20.0"


def test_a_probability_that_is_nan_fails():
    events = Events()
    events.add(str, [50, 50], 100, [0.5, math.nan])
    events.add(str, [50], 100, [0.4])
    assert math.isnan(events.outcome(100).statistic)


# Cells


@pytest.mark.parametrize("law", laws.laws(), ids=laws.short)
def test_cells_cover_the_line_and_no_value_is_on_an_edge(law):
    where = events.cells_of(law)
    assert math.fsum(where.probabilities) == pytest.approx(1, abs=1e-12)
    assert (where.probabilities >= 0).all()
    assert where.probabilities.size == where.edges.size + 1 > 2
    steps = where.edges / float(law.granularity)
    assert (steps != np.rint(steps)).all()


def test_cells_in_the_tails_keep_their_precision():
    x = np.array([-40.0, -30.0, 0.0, 30.0, 40.0])
    found = events.between(stats.laplace.cdf(x), stats.laplace.sf(x))
    assert found[0] == pytest.approx(found[-1], rel=1e-14)
    assert found[1] == pytest.approx(0.5 * (math.exp(-30) - math.exp(-40)), rel=1e-13)


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
@pytest.mark.parametrize("dim", [2, 3])
def test_shares_of_the_norm(norm, dim):
    """Against points of the ball that NumPy draws by rejection: 10**6 of them, five standard errors of a fixed seed."""
    rng = np.random.default_rng(4)
    points = rng.uniform(-1, 1, (10**6, dim))
    size = laws._norms(points, norm)
    points, size = points[size < 1], size[size < 1]
    t = np.arange(1, 8) / 8
    found = (np.abs(points[:, :1]) <= t * size[:, None]).mean(axis=0)
    expected = laws.share_cdf(norm, dim, t)
    assert (np.abs(found - expected) < 5 * np.sqrt(expected * (1 - expected) / len(points))).all()


def test_texts_of_laws():
    assert laws.short(sn.Laplace(1.0)) == "Laplace(eps=1)"
    assert laws.short(sn.Staircase([0.5, 1.0], gamma="l2")) == "Staircase(eps=[0.5, 1], gamma='l2')"
    texts = [laws.short(law) for law in (*laws.laws(), *laws.vectors())]
    assert len(set(texts)) == len(texts)


# AES and the contract


@pytest.mark.parametrize("case", range(20))
def test_aes_against_openssl(case):
    choose = random.Random(case)
    key, block = choose.randbytes(32), choose.randbytes(16)
    expected = Cipher(algorithms.AES256(key), modes.ECB()).encryptor().update(block)
    assert contract.encrypt(contract.expand(key), block) == expected


def test_published_vectors_against_openssl():
    for key, plain, cipher in contract.NIST_VECTORS:
        assert Cipher(algorithms.AES256(bytes.fromhex(key)), modes.ECB()).encryptor().update(bytes.fromhex(plain)).hex() == cipher


@pytest.mark.parametrize("case", range(20))
def test_stream_against_the_oracle(case):
    choose = random.Random(case)
    secret, fill, index = choose.randbytes(32), choose.randrange(2**48), choose.randrange(2**62)
    key = contract.Key(secret)
    assert key.word(fill, index) == stream.word(secret, fill, index)
    number = choose.randrange(8192)
    assert key.extension(fill, index, number) == stream.extension_word(secret, fill, index, number)
    assert key.child(case) == stream.child_key(secret, case)


@pytest.mark.parametrize(("eps", "sensitivity"), [(1.0, 2**50), (0.1, 3), (30.0, 1)])
def test_discrete_laplace_against_the_oracle(eps, sensitivity):
    where = law(eps, lattice("discrete_laplace", eps, float(sensitivity)))
    for seed in range(30):
        secret = stream.seed_key(seed)
        expected = draw.at(where, secret, 0, seed).value
        key = contract.Key(secret)
        extension = lambda number, key=key, seed=seed: key.extension(0, seed, number)  # noqa: E731
        assert contract.discrete_laplace(key.word(0, seed), extension, eps, sensitivity) == expected


def test_extension_words_are_read_where_they_decide():
    """A word whose bits are next to the boundary of 0 and 1: v < S(1) = 2q/(1 + q) is open until an extension word says."""
    q = math.exp(-1.0)
    word = int(2 * q / (1 + q) * 2.0**63)
    asked = []

    def extension(number, bits):
        asked.append(number)
        return bits

    where = law(1.0, lattice("discrete_laplace", 1.0, 1.0))
    for near in range(word - 1500, word + 1500):
        for bits in (0, 2**64 - 1):
            expected = draw.listed(where, near, [bits] * 8).value
            assert contract.discrete_laplace(near, lambda n, bits=bits: extension(n, bits), 1.0, 1) == expected
    assert asked


# The shipped answers


def test_shipped_answers_are_made_of_the_vectors():
    """Byte for byte; `python -m tests.oracles.generate known_answers` writes the file."""
    assert SHIPPED.read_text(encoding="utf-8") == known_answers.text()


def test_shipped_answers_stay_small():
    assert SHIPPED.stat().st_size < 200 * 1024


# The machine


def test_processor_of_the_kernels_list(monkeypatch, tmp_path):
    monkeypatch.setattr(machine.sys, "platform", "linux")
    path = tmp_path / "cpuinfo"
    monkeypatch.setattr(machine, "Path", lambda name: path)
    path.write_text("processor\t: 0\nmodel name\t: A Processor: 3 GHz\n")
    assert machine.cpu() == "A Processor: 3 GHz"
    path.write_text("processor\t: 0\nBogoMIPS\t: 50.00\n")
    assert machine.cpu() == (machine.platform.processor() or machine.platform.machine())
    path.unlink()
    assert machine.cpu()


def test_processor_of_a_mac(monkeypatch):
    monkeypatch.setattr(machine.sys, "platform", "darwin")
    done = machine.subprocess.CompletedProcess([], 0, "Apple M9\n", "")
    monkeypatch.setattr(machine.subprocess, "run", lambda *a, **k: done)
    assert machine.cpu() == "Apple M9"

    def absent(*a, **k):
        raise FileNotFoundError

    monkeypatch.setattr(machine.subprocess, "run", absent)
    assert machine.cpu()


def test_the_processor_of_another_system(monkeypatch):
    monkeypatch.setattr(machine.sys, "platform", "win32")
    assert machine.cpu() == (machine.platform.processor() or machine.platform.machine())


def test_processors_where_no_process_is_bound_to_some(monkeypatch):
    monkeypatch.delattr(machine.os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(machine.os, "cpu_count", lambda: 6)
    assert machine.processors() == 6
    monkeypatch.setattr(machine.os, "cpu_count", lambda: None)
    assert machine.processors() == 1


# Known answers


def test_an_answer_too_few_is_an_error():
    with pytest.raises(ValueError, match=r"^1 values instead of 2 for \{'law': 'x'\}$"):
        answers._check([{"law": "x"}], lambda entry: ([1.0], [1.0, 2.0]))


def test_known_answers_beyond_float64_saturate():
    largest = np.finfo(np.float64).max
    assert [answers.rounded(sign * Fraction(10) ** 400) for sign in (1, -1)] == [largest, -largest]
    assert answers.rounded(Fraction(1, 3)) == 1 / 3
