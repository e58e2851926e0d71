"""Report of ``stairnoise sample``: speed, lattice, and a comparison of the sample with the theory."""

from __future__ import annotations

from collections.abc import Iterator
from math import frexp, sqrt
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.text import Text

from stairnoise._errors import ParameterError
from stairnoise.cli.screen import plain, print_facts, print_rows
from stairnoise.mechanism.drawing import sample_generally
from stairnoise.rng import SeededRng

_SUFFIXES = (".npy", ".csv")
# From this many values on, the time for one is meaningful.
_MANY = 100_000
_CHUNK = 2**16  # values whose squares fit the second-level cache


class Moment(NamedTuple):
    """One moment of the sample and of the distribution."""

    name: str
    sample: float
    theory: float
    standard_error: float

    @property
    def z(self) -> float:
        """Difference in standard errors."""
        difference = self.sample - self.theory
        return difference / self.standard_error if self.standard_error else 0.0


def print_noise_report(console: Console, mechanism: Any, n: int, *, seed: int | None, output: Path | None, verbose: bool) -> None:
    """Draw `n` values, and print their moments beside the theory's, and a summary; `verbose` adds facts of the run."""
    rng = None if seed is None else SeededRng(seed)
    start = perf_counter()
    noise = sample_generally(mechanism, n, rng, None, None, size_name="n")
    seconds = perf_counter() - start
    if output is not None:
        _write(output, noise)

    console.print(Text(repr(mechanism), style="bold"))
    console.print()
    if verbose:
        print_facts(console, _facts(mechanism, noise, seconds))
    drawn = f"{n:,} values, " + ("secure" if seed is None else f"seed {seed} (study only)")
    if n:
        rows = moments_of_vectors(mechanism, noise) if noise.ndim > 1 else moments(mechanism, noise)
        texts = [
            [row.name, f"{row.sample:.4g}", f"{row.theory:.4g}", f"{row.standard_error:.2g}", f"{row.z:+.2f}"] for row in rows
        ]
        headings = ["", "sample", "theory", "standard error", "z"]
        print_rows(console, headings, [[*map(Text, row)] for row in texts], texts=1)
        console.print()
        drawn += f", within {max(abs(row.z) for row in rows):.2f} standard errors of the theory"
    console.print(f"{drawn}.")
    if output is not None:
        console.print(plain(f"written to {output}"), soft_wrap=True)


def require_suffix(output: Path | None) -> None:
    """Refuse a file whose suffix is not that of a format."""
    if output is not None and output.suffix.lower() not in _SUFFIXES:
        raise ParameterError(f"output must end in {' or '.join(_SUFFIXES)}, got {str(output)!r}")


def _write(output: Path, noise: NDArray[Any]) -> None:
    """Write the values; in CSV every float as the shortest text that reads back as the same float."""
    if output.suffix.lower() == ".npy":
        with output.open("wb") as file:  # given a path, np.save would append another suffix to .NPY
            np.save(file, noise)
        return
    rows = noise if noise.ndim > 1 else noise[:, None]
    with output.open("w", encoding="utf-8", newline="") as file:
        file.write(",".join(["noise"] if noise.ndim == 1 else [f"noise_{place}" for place in range(rows.shape[1])]) + "\r\n")
        for start in range(0, len(rows), _CHUNK):
            file.writelines(",".join(map(repr, row)) + "\r\n" for row in rows[start : start + _CHUNK].tolist())


def moments(mechanism: Any, noise: NDArray[Any]) -> list[Moment]:
    """Compare the mean, E|X|, and the variance around the known mean."""
    n, centre = noise.size, float(mechanism.mean())
    m1, m2 = float(mechanism.abs_moment(1)), float(mechanism.abs_moment(2))
    variance, m4 = float(mechanism.var()), float(mechanism.abs_moment(4))
    if centre != 0:
        m4 = (float(mechanism.stats("k")) + 3) * variance**2
    total, total_abs, total_square = (sum(sums) for sums in zip(*_chunk_sums(noise, centre), strict=True))
    return [
        Moment("mean", centre + total / n, centre, sqrt(variance / n)),
        Moment("E|X|", total_abs / n, m1, sqrt((m2 - m1**2) / n)),
        Moment("variance", total_square / n, variance, sqrt((m4 - variance**2) / n)),
    ]


def moments_of_vectors(mechanism: Any, noise: NDArray[Any]) -> list[Moment]:
    """Compare the mean of all coordinates and the moments of the norm."""
    n = noise.shape[0]
    norms = np.linalg.norm(noise, {"l1": 1, "l2": 2, "linf": np.inf}[mechanism.norm], axis=-1)
    m1, m2, m4 = (mechanism.expected_norm(p) for p in (1, 2, 4))
    return [
        Moment("mean", float(noise.mean()), 0.0, mechanism.std() / sqrt(noise.size)),
        Moment("E‖X‖", float(norms.mean()), m1, sqrt((m2 - m1**2) / n)),
        Moment("E‖X‖²", float(np.square(norms).mean()), m2, sqrt((m4 - m2**2) / n)),
    ]


def _chunk_sums(noise: NDArray[Any], centre: float) -> Iterator[tuple[float, float, float]]:
    for start in range(0, noise.size, _CHUNK):
        chunk = noise[start : start + _CHUNK].astype(np.float64)
        total_abs = float(np.abs(chunk).sum())
        if centre:
            chunk -= centre
        yield float(chunk.sum()), total_abs, float(np.dot(chunk, chunk))


def _facts(mechanism: Any, noise: NDArray[Any], seconds: float) -> Iterator[tuple[str, str]]:
    n = noise.size
    vectors = f", {noise.shape[0]:,} vectors of {noise.shape[1]}" if noise.ndim > 1 else ""
    yield "values", f"{n:,} of {noise.dtype}{vectors}"
    # A shorter call spends most of its time outside of drawing.
    if n >= _MANY:
        yield "time", f"{seconds:.4f} s, {seconds / n * 1e9:.2f} ns per value, memory for them included"
    step = float(mechanism.granularity)
    exponent = frexp(step)[1] - 1
    yield "granularity", "1" if exponent == 0 else f"2^{exponent} = {step:.3g}"
