"""Evidence: statistics of the random words, within a fill, between fills and between children, and of a bit generator's.

Every statistic is compared with its distribution for independent fair bits. A battery fails by chance with probability at most
1e-6, of which each of its statistics has an equal share; with a seed the outcome is the same in every run. Each statistic is seen
to find a stream with its own weakness. dieharder also runs if it is installed.
"""

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

ROOT = Path(__file__).resolve().parents[2]
Words = NDArray[np.uint64]
FALSE_ALARM = 1e-6
LONG = 2**24  # words, or 2**30 bits
ONES = np.array([bin(i).count("1") for i in range(2**16)], np.uint8)


def ones(words: Words) -> int:
    return int(ONES[words.view(np.uint16)].sum(dtype=np.int64))


def both_tails(z: float) -> float:
    return 2 * float(stats.norm.sf(abs(z)))


def fair(heads: int, tosses: int) -> float:
    return both_tails((heads - tosses / 2) / (tosses / 4) ** 0.5)


def chi_square(counts: NDArray[np.int64]) -> float:
    expected = counts.sum() / counts.size
    statistic = float(((counts - expected) ** 2).sum() / expected)
    tail = stats.chi2(counts.size - 1)
    return 2 * min(float(tail.sf(statistic)), float(tail.cdf(statistic)))


# Each statistic gives p-values: under independent fair bits at most x with probability x.


def bit_frequencies(words: Words) -> list[float]:
    """Test the frequency of each of the 64 bits."""
    counts = [int(((words >> np.uint64(bit)) & np.uint64(1)).sum()) for bit in range(64)]
    return [fair(count, words.size) for count in counts]


def byte_counts(words: Words) -> list[float]:
    """Test the counts of each of the eight bytes, and of pairs of bytes."""
    counts = [np.bincount(words.view(np.uint8)[byte::8], minlength=256) for byte in range(8)]
    return [*map(chi_square, counts), chi_square(np.bincount(words.view(np.uint16), minlength=2**16))]


def runs(words: Words) -> list[float]:
    """Test how often a bit differs from the next, also across words."""
    following = words >> np.uint64(1)
    following[:-1] |= words[1:] << np.uint64(63)
    differing = ones(words ^ following) - (int(words[-1]) >> 63)
    return [fair(differing, 64 * words.size - 1)]


def serial_correlation(words: Words) -> list[float]:
    """Test how many bits agree with the word 1, 2, 3, 4, 8, 16, 512 or 4096 earlier, in the same and in other fills."""
    lags = (1, 2, 3, 4, 8, 16, 512, 4096)
    return [fair(ones(words[lag:] ^ words[:-lag]), 64 * (words.size - lag)) for lag in lags]


def birthday_spacings(words: Words) -> list[float]:
    """Marsaglia 1985: among 2**12 birthdays in 2**32 days, the number of repeated spacings is nearly Poisson with mean 4."""
    days = 2**12
    years = words[: min(words.size // days, 256) * days].reshape(-1, days)
    tails = []
    for half in (years >> np.uint64(32), years & np.uint64(2**32 - 1)):
        spacings = np.sort(np.diff(np.sort(half, axis=1), axis=1), axis=1)
        repeated = int((np.diff(spacings, axis=1) == 0).sum())
        mechanism = stats.poisson(4 * len(years))
        tails.append(2 * min(float(mechanism.sf(repeated - 1)), float(mechanism.cdf(repeated)), 0.5))
    return tails


def repeated_words(words: Words) -> list[float]:
    """Test the number of repeated words by a Poisson bound on pairs."""
    repeated = words.size - np.unique(words).size
    return [float(stats.poisson(words.size**2 / 2**65).sf(repeated - 1)) if repeated else 1.0]


BATTERY = (bit_frequencies, byte_counts, runs, serial_correlation, birthday_spacings, repeated_words)


def too_small(words: Words, statistics: tuple[Callable[[Words], list[float]], ...] = BATTERY) -> dict[str, list[float]]:
    """Return the p-values that are too small for fair bits, by statistic."""
    tails = {statistic.__name__: statistic(words) for statistic in statistics}
    limit = FALSE_ALARM / sum(map(len, tails.values()))
    return {name: small for name, all_of_it in tails.items() if (small := [tail for tail in all_of_it if tail < limit])}


def other_random_words() -> Words:
    return np.random.Generator(np.random.PCG64DXSM(3)).integers(2**64, size=2**20, dtype=np.uint64)


def test_the_battery_accepts_another_generator():
    assert too_small(other_random_words()[: 2**18]) == {}


def biased_bit(words: Words) -> Words:
    return words | ((words << np.uint64(3)) & (words << np.uint64(9)) & (words << np.uint64(40)) & np.uint64(2**60))


def unequal_bytes(words: Words) -> Words:
    bytes_of = words.view(np.uint8).copy()
    bytes_of[bytes_of == 77] ^= (np.arange((bytes_of == 77).sum()) % 8 == 0).astype(np.uint8)
    return bytes_of.view(np.uint64)


def sticky_bits(words: Words) -> Words:
    return words ^ (
        (words ^ (words << np.uint64(1))) & np.roll(words, 5) & np.roll(words, 9) & np.roll(words, 77) & np.uint64(2**30)
    )


def fills_alike(words: Words) -> Words:
    """One word in sixty-four of a short fill repeats the fill before."""
    out = words.copy()
    out[64::64] = out[56:-8:64]
    return out


def too_regular(words: Words) -> Words:
    """A permutation of the days is no more than a counter in disguise."""
    return np.arange(words.size, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)


def a_late_repeat(words: Words) -> Words:
    out = words.copy()
    out[-3:] = out[:3]
    return out


WEAK = (biased_bit, unequal_bytes, sticky_bits, fills_alike, too_regular, a_late_repeat)


@pytest.mark.parametrize(("statistic", "weaken"), list(zip(BATTERY, WEAK, strict=True)))
def test_each_statistic_finds_a_weak_stream(statistic, weaken):
    assert too_small(weaken(other_random_words()), (statistic,)), statistic.__name__


@pytest.fixture(scope="module")
def written() -> Callable[[str, int], subprocess.Popen[bytes]]:
    """Start a process that writes the library's words."""
    cargo = shutil.which("cargo")
    if cargo is None:
        pytest.skip("cargo is not installed")
    build = [cargo, "build", "--quiet", "--locked", "--release", "-p", "stairnoise", "--example", "keystream"]
    subprocess.run(build, cwd=ROOT, check=True)
    program = ROOT / "target" / "release" / "examples" / "keystream"

    def write(arrangement: str, count: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen([program, arrangement, str(count)], stdout=subprocess.PIPE)

    return write


ARRANGEMENTS = ["fill", "fills", "children", "os", "bits", "bits-os"]


@pytest.mark.long
@pytest.mark.parametrize("arrangement", ARRANGEMENTS)
def test_two_to_the_thirty_bits(arrangement, written):
    with written(arrangement, LONG) as process:
        data, _ = process.communicate()
    words = np.frombuffer(data, "<u8")
    assert words.size == LONG
    assert too_small(words) == {}


# dieharder's tests that it calls good and that read less than a few gigabytes. It calls a p-value "FAILED" within 1e-6
# of 0 or of 1, and these tests give 55: a false alarm for `os` or `bits-os`, whose words are new in every run, has probability
# 1.1e-4 each. The words of the other arrangements are the same in every run.
# Test 17 reads 8 GB for a p-value of 100 p-values; 10 take only minutes.
OPTIONS = {17: ["-p", "10"], 200: ["-n", "8"], 203: ["-n", "8"]}
DIEHARDER = (0, 1, 2, 3, 8, 10, 12, 13, 15, 16, 17, 100, 101, 102, 200, 202, 203, 204, 205, 206, 208, 209)


@pytest.mark.long
@pytest.mark.parametrize("arrangement", ARRANGEMENTS)
@pytest.mark.parametrize("number", DIEHARDER)
def test_dieharder(number, arrangement, written):
    dieharder = shutil.which("dieharder")
    if dieharder is None:
        pytest.skip("dieharder is not installed; on Debian or Ubuntu: apt install dieharder")
    options = [dieharder, "-g", "200", "-d", str(number), *OPTIONS.get(number, [])]
    with written(arrangement, 2**40) as process:
        done = subprocess.run(options, stdin=process.stdout, capture_output=True, text=True, check=True)
        process.kill()
    verdicts = re.findall(r"\b(PASSED|WEAK|FAILED)\b", done.stdout)
    assert verdicts, done.stdout
    assert "FAILED" not in verdicts, done.stdout
