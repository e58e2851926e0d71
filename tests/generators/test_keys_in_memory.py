"""Evidence: a search for keys and keystream in the memory of a live process, as a debugger or a core dump sees it.

Another process makes generators, draws and forgets, and stops in between. This process reads its memory and searches for a key
that was sent, for the words of that key's fills by the oracle, or for keys found by an attack on an earlier state. Each search is
seen to find secrets while they are in use. All searches together find a key's word by chance with probability below 1e-6, and a
word of keystream (52 bits are compared) with 1e-3; more words than are allowed are found practically never.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

import stairnoise as sn
from tests.oracles import bit_generator, keyed, stream

# These tests hold for the shipped build. The extension of `make dev` has no link-time optimisation, and the compiler leaves
# copies of a key on the stack there, so the quick tests omit this file.
pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="memory is read through /proc, which is Linux's"),
    pytest.mark.slow,
]

MASK = 0x5A

# Words that can be found nevertheless: the compiler keeps some words of values drawn one by one on the stack.
LEFT = 4

PROGRAM = """
import os, sys
import numpy as np
import stairnoise as sn

MASK = 0x5A
names = {"sn": sn, "np": np}

def unmask():
    # In place: no other object ever holds the key.
    key = bytearray(32)
    os.write(1, b"?")
    os.readv(0, [key])
    for i in range(32):
        key[i] ^= MASK
    names["key"] = key

names["unmask"] = unmask
ask = bytearray(200)
while length := os.readv(0, [ask]):
    exec(ask[:length].decode(), names)
    answer = names.pop("answer", b"")
    os.write(1, bytes(answer) + b"done")
"""


class Process:
    """A process that runs statements on request and lets its memory be read."""

    def __init__(self, tier: str | None) -> None:
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": ":".join(sys.path)}
        if tier:
            environment["STAIRNOISE_CPU"] = tier
        self._process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, env=environment
        )

    def tell(self, statement: str, then: bytes = b"") -> bytes:
        """Send a statement, and bytes that the statement reads; return the answer."""
        pipes = self._process
        assert pipes.stdin is not None
        assert pipes.stdout is not None
        pipes.stdin.write(statement.encode())
        if then:
            assert pipes.stdout.read(1) == b"?"
            pipes.stdin.write(then)
        answer = b""
        while not answer.endswith(b"done"):
            part = pipes.stdout.read(1 << 16)
            assert part, "the process ended"
            answer += part
        return answer.removesuffix(b"done")

    def memory(self) -> list[np.ndarray]:
        """Return all writable memory of the process, as 64-bit words."""
        parts = []
        folder = Path("/proc") / str(self._process.pid)
        try:
            with (folder / "mem").open("rb", 0) as memory:
                for line in (folder / "maps").read_text().splitlines():
                    place, rights = line.split()[:2]
                    start, end = (int(address, 16) for address in place.split("-"))
                    if rights.startswith("rw") and "[v" not in line:
                        memory.seek(start)
                        parts += _words(memory, end - start)
        except PermissionError:
            pytest.skip("this user cannot read another process's memory")
        assert sum(part.size for part in parts) > 10**5
        return parts

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()


def _words(memory, length: int) -> Iterator[np.ndarray]:
    """Return the nonempty pages of a region."""
    while length > 0:
        data = memory.read(min(length, 1 << 24))
        if not data:
            return
        length -= len(data)
        words = np.frombuffer(data, np.uint64)
        if words.any():
            yield words


# The default instruction set, and in `make test-long` all others: portable code has another cipher.
others = [pytest.param(tier, marks=pytest.mark.long) for tier in sn.cpu_tiers()[:-1]]
each_tier = {"params": [None, *others], "ids": lambda tier: tier or "fastest"}


@pytest.fixture(**each_tier)
def process(request) -> Iterator[Process]:
    """A fresh process."""
    process = Process(request.param)
    yield process
    process.end()


@pytest.fixture(scope="module", **each_tier)
def shared(request) -> Iterator[Process]:
    """A process shared by tests that make their own generators, because a start takes longer than a search."""
    process = Process(request.param)
    yield process
    process.end()


def found(memory: list[np.ndarray], secrets: list[int]) -> int:
    """Return the number of words in the memory that are secret."""
    wanted = np.array(secrets, np.uint64)
    return sum(int(np.isin(words, wanted).sum()) for words in _alike(memory, wanted))


FRACTION = np.uint64(2**52 - 1)


def traces(memory: list[np.ndarray], secrets: list[int]) -> int:
    """Return the number of words in the memory that are secret, or floats with a secret's mantissa, of any sign and exponent."""
    wanted = np.array(secrets, np.uint64)
    fractions = (wanted & np.uint64(2**63 - 1)).astype(np.float64).view(np.uint64) & FRACTION
    fractions = fractions[fractions > 2**20]  # random bits, not zeros
    alike = _alike(memory, np.append(wanted, fractions))
    return sum(int((np.isin(words, wanted) | np.isin(words & FRACTION, fractions)).sum()) for words in alike)


def _alike(memory: list[np.ndarray], wanted: np.ndarray) -> Iterator[np.ndarray]:
    """Return words that share the 16 low-order bits of a wanted word; `isin` on all words takes thirty times as long."""
    low = np.zeros(2**16, np.bool_)
    low[wanted.astype(np.uint16)] = True
    return (part[low[part.astype(np.uint16)]] for part in memory)


def words_of(data: bytes) -> list[int]:
    return [int.from_bytes(data[i : i + 8], "little") for i in range(0, len(data), 8)]


def keystream(key: bytes, fill: int, values: int, stages: int = 1) -> list[int]:
    """Return the words of a fill's first values in each stage (contract, section 5)."""
    return [stream.word(key, fill, i + (stage << 40)) for stage in range(stages) for i in range(values)]


# Every way to draw: one value, few, many, in place, releases of each length; with the number of words and of stages.
DRAWS = [
    ("d.sample(rng=rng)", 1, 1),
    ("d.sample(5, rng=rng)", 5, 1),
    ("d.sample(1500, rng=rng)", 1500, 1),
    ("sn.Staircase(2.0).sample(1500, rng=rng)", 1500, 1),
    ("sn.DiscreteLaplace(1.0).sample(1500, rng=rng)", 1500, 1),
    ("sn.DiscreteStaircase(1.0, 9).sample(600, rng=rng)", 600, 1),
    ("[*d.sample_chunks(1500, 400, rng=rng)]", 1500, 1),
    ("d.sample_chunks(1500, 400, rng=rng).close()", 0, 1),
    ("d.release(3.5, rng=rng)", 1, 1),
    ("d.release([1.0] * 7, rng=rng)", 7, 1),
    ("d.release(np.ones(1500), rng=rng)", 1500, 1),
    ("sn.Laplace([0.5, 2.0]).sample((300, 2), rng=rng)", 600, 1),
    ("d.sample(300_000, rng=rng, threads=2)", 2000, 1),
    ("sn.DiscreteGaussian(100.0).sample(600, rng=rng)", 1200, 6),
    ("sn.Gaussian(1.0, 1e-6).sample(600, rng=rng)", 1200, 6),
    ("sn.TruncatedLaplace(1.0, 1e-6).sample(600, rng=rng)", 600, 1),
    ("sn.MergedLaplace([0.5, 2.0], [1.0]).sample(600, rng=rng)", 600, 2),
    ("sn.LatticeNoise([1, 2, 4, 2, 1], 0.5).sample(600, rng=rng)", 600, 1),
    ("sn.MultivariateStaircase(1.0, dim=3, norm='l1').sample(200, rng=rng)", 200, 4),
    ("sn.MultivariateStaircase(1.0, dim=3, norm='l2').sample(200, rng=rng)", 200, 12),
    ("sn.MultivariateStaircase(1.0, dim=3, norm='linf').sample(200, rng=rng)", 200, 4),
    ("sn.GeneralizedDiscreteLaplace(0.4, 0.6, n_parties=3).sample(600, rng=rng)", 600, 6),
    ("sn.MultiScaleDiscreteLaplace(1.0, 3).sample(600, rng=rng)", 600, 3),
    ("sn.ExponentialMechanism(1.0, 1.0).select(np.ones((600, 5)), rng=rng)", 600, 1),
    ("d.sample(out=np.empty((100, 60), order='F'), rng=rng)", 6000, 1),
]


@pytest.mark.parametrize("draws", [DRAWS[::2], pytest.param(DRAWS, marks=pytest.mark.long)], ids=["some", "all"])
def test_a_given_key_and_its_keystream_are_wiped(process, draws):
    key = np.random.default_rng(1).bytes(32)
    process.tell("unmask()", bytes(byte ^ MASK for byte in key))
    assert found(process.memory(), words_of(key)) >= 4, "the caller's own copy"
    process.tell("rng = sn.SecureRng.from_key(key); key[:] = bytes(32); d = sn.Laplace(1.0, 1.0)")
    live = found(process.memory(), words_of(key))
    assert live >= 4, "the generator's key"
    streams = []
    for fill, (draw, values, stages) in enumerate(draws):
        process.tell(f"kept{fill} = {draw}")
        words = keystream(key, fill, values, stages)
        assert traces(process.memory(), words) <= LEFT, draw
        streams += words
    assert traces(process.memory(), streams) <= LEFT
    assert found(process.memory(), words_of(key)) == live, "no copy remains except the generator's"
    process.tell("shown = [repr(rng), str(rng._stream), rng.__reduce_ex__.__doc__]")
    assert not any(key.hex().encode() in part.tobytes() for part in process.memory()), "no text shows the key"
    process.tell("children = rng.spawn(3) + [rng.at(7)]; drawn = [d.sample(1, rng=child) for child in children]")
    keys = b"".join(stream.child_key(key, child) for child in range(3))
    assert found(process.memory(), words_of(keys)) >= 12
    process.tell("del rng, children")
    assert found(process.memory(), words_of(key + keys)) == 0


def test_values_of_tiles_are_nowhere_but_in_the_array(process):
    """The rows of the last tiles, because later tiles overwrite copies of earlier ones."""
    process.tell("out = np.zeros((80, 600), order='F'); sn.Laplace(1.0).sample(out=out, rng=sn.SeededRng(5))")
    values = sn.Laplace(1.0, sensitivity=1).sample((80, 600), rng=sn.SeededRng(5))[-8:].view(np.uint64).ravel().tolist()
    assert found(process.memory(), values) >= len(values)
    process.tell("out[:] = 0")  # freed memory would keep them if malloc did not give it back
    assert found(process.memory(), values) <= LEFT


BUFFER = 508


def test_a_bit_generator_forgets_keys_and_words(process):
    """A given key is wiped; only its products remain: coming words, the next buffer's key and the next child's key."""
    key = np.random.default_rng(7).bytes(32)
    words = list(islice(bit_generator.words(key), 3 * BUFFER))
    buffers = list(islice(buffer_keys(key), 4))
    children = list(islice(bit_generator.children(key), 3))
    process.tell("unmask()", bytes(byte ^ MASK for byte in key))
    process.tell("bits = sn.SecureBitGenerator(key); key[:] = bytes(32); rng = np.random.Generator(bits)")
    memory = process.memory()
    assert found(memory, words_of(key)) == 0
    assert found(memory, words_of(buffers[0])) == 4, "the first buffer's"
    process.tell("kept = rng.random(100)")
    memory = process.memory()
    assert found(memory, words_of(key + buffers[0])) == 0
    assert found(memory, words_of(buffers[1])) == 4
    assert found(memory, words[:100]) <= LEFT
    assert found(memory, words[100:BUFFER]) == BUFFER - 100, "the words not drawn yet"
    process.tell("kept = [rng.random(508), rng.standard_normal(300), rng.permutation(3000), rng.integers(9, size=7)]")
    memory = process.memory()
    assert found(memory, words[: 2 * BUFFER]) <= LEFT
    assert found(memory, words_of(b"".join(buffers[:3]))) == 0
    process.tell("shown = [repr(bits), str(rng), bits.seed_seq]; spawned = bits.spawn(2)")
    first = [next(buffer_keys(child)) for child in children]
    memory = process.memory()
    assert found(memory, words_of(b"".join(children))) == 0
    assert found(memory, words_of(first[0] + first[1])) == 8, "those of the children's words"
    process.tell("del bits, rng, spawned")
    memory = process.memory()
    assert found(memory, words_of(key + b"".join(buffers + children + first))) == 0
    assert found(memory, words) <= LEFT


def buffer_keys(key: bytes) -> Iterator[bytes]:
    """Return the key of each buffer of a bit generator (contract, section 17)."""
    key, _ = bit_generator.two_keys(key)
    while True:
        yield key
        key = bit_generator.blocks(key, bit_generator.BUFFERS, 0, 2)


def test_a_refused_key_of_a_bit_generator_leaves_no_copy(process):
    key = np.random.default_rng(8).bytes(32)
    process.tell("unmask()", bytes(byte ^ MASK for byte in key))
    process.tell("try: sn.SecureBitGenerator(key + key[:8])\nexcept sn.ParameterError as e: error = e\nkey[:] = bytes(32)")
    # The sum was the caller's own; what stairnoise copied of it is gone.
    assert found(process.memory(), words_of(key)) <= 4


def test_a_key_is_wiped_when_another_takes_its_place(process):
    key = np.random.default_rng(2).bytes(32)
    process.tell("unmask()", bytes(byte ^ MASK for byte in key))
    process.tell("rng = sn.SecureRng.from_key(key); key[:] = bytes(32); rng.reseed()")
    assert found(process.memory(), words_of(key)) == 0


def test_a_refused_key_leaves_no_copy(process):
    key = np.random.default_rng(3).bytes(32)
    process.tell("unmask()", bytes(byte ^ MASK for byte in key))
    attempt = "try: sn.SecureRng.from_key(key + key[:8])\nexcept sn.ParameterError as e: error = e\nkey[:] = bytes(32)"
    process.tell(attempt)
    # The sum was the caller's own; what stairnoise copied of it is gone.
    assert found(process.memory(), words_of(key)) <= 4


HIGH_BITS = np.uint64(0x8080808080808080)


def candidates(memory: list[np.ndarray]) -> Iterator[bytes]:
    """Return all aligned 32 bytes that can be a key: no ASCII text, and at most one word like an address or a small number.

    A random word is like one with probability 2**-15, two words of a key with 6e-9. A key is ASCII with probability 2**-32.
    """
    for words in memory:
        random = (words >> np.uint64(48) != 0) & (words << np.uint64(48) != 0)
        random &= np.bitwise_count(words) > 12 if hasattr(np, "bitwise_count") else random
        often = random[:-3].astype(np.int8) + random[1:-2] + random[2:-1] + random[3:]
        other = words & HIGH_BITS != 0
        for at in np.flatnonzero((often >= 3) & (other[:-3] | other[1:-2] | other[2:-1] | other[3:])):
            yield words[at : at + 4].tobytes()


def key_of(noise: bytes, memory: list[np.ndarray]) -> bytes | None:
    """The attack: return the key in the memory that draws this noise, or None."""
    mechanism = sn.Laplace(1.0, sensitivity=1)
    first = np.frombuffer(noise)
    for key in candidates(memory):
        if mechanism.sample(rng=sn.SecureRng.from_key(key)) == first[0] and (
            mechanism.sample(first.size, rng=sn.SecureRng.from_key(key)).tobytes() == noise
        ):
            return key
    return None


def test_memory_read_after_a_fill_does_not_tell_its_noise(process):
    """The attack finds the key before the fill but not after, and no product of the key is left."""
    process.tell("rng = sn.SecureRng(); d = sn.Laplace(1.0, 1.0)")
    process.tell("d.sample(rng=rng)")
    before = process.memory()
    noise = process.tell("answer = d.sample(1500, rng=rng)")
    after = process.memory()
    key = key_of(noise, before)
    assert key is not None, "the next fill's key is in the memory"
    assert key_of(noise, after) is None
    assert found(before, words_of(key)) == 4
    assert found(after, words_of(key)) == 0
    assert traces(after, keystream(key, 0, 1500)) <= LEFT


@pytest.mark.parametrize(
    ("draw", "values", "stages"), [*DRAWS[1::2], *(pytest.param(*way, marks=pytest.mark.long) for way in DRAWS[::2])]
)
def test_every_way_to_draw_erases_its_key(shared, draw, values, stages):
    """A view draws noise, and the attack finds the key by it; then the generator uses the key in each way to draw."""
    shared.tell("rng = sn.SecureRng(); d = sn.Laplace(1.0, 1.0)")
    shared.tell("d.sample(rng=rng)")
    before = shared.memory()
    noise = shared.tell("answer = d.sample(50, rng=rng.at(0))")
    key = key_of(noise, before)
    assert key is not None
    shared.tell(f"kept = {draw}")
    after = shared.memory()
    assert found(after, words_of(key)) == 0
    assert traces(after, keystream(key, 0, values, stages)) <= LEFT


def test_an_iterator_of_chunks_has_the_key_of_its_fill_alone(process):
    """An iterator's own key is in memory until the iterator ends. Keys of later fills are wiped with their fills, as always."""
    process.tell("rng = sn.SecureRng(); d = sn.Laplace(1.0, 1.0)")
    process.tell("d.sample(rng=rng)")
    before = process.memory()
    noise = [process.tell("answer = d.sample(50, rng=rng.at(0)); chunks = d.sample_chunks(50, 9, rng=rng); next(chunks)")]
    noise.append(process.tell("answer = d.sample(50, rng=rng.at(0)); d.sample(rng=rng)"))
    own, later = (key_of(one, before) for one in noise)
    assert own is not None
    assert later is not None
    during = process.memory()
    assert found(during, words_of(own)) == 4
    assert found(during, words_of(later)) == 0
    process.tell("rest = list(chunks)")
    assert found(process.memory(), words_of(own)) == 0


def test_renewed_keys_lose_their_makers(process):
    """Sixteen keys of an earlier state, including the generator's own, are gone after sixteen more fills."""
    process.tell("rng = sn.SecureRng(); d = sn.Laplace(1.0, 1.0)")
    process.tell("d.sample(rng=rng)")
    before = process.memory()
    key = key_of(process.tell("answer = d.sample(50, rng=rng)"), before)
    assert key is not None
    (state,) = (state for state in states(before, key) if state is not None)
    assert found(before, state) == len(state)
    process.tell("for _ in range(16): d.sample(rng=rng)")
    assert found(process.memory(), state) == 0


def test_the_keys_of_fills_to_come_are_wiped_with_their_generator(process):
    process.tell("rng = sn.SecureRng(); d = sn.Laplace(1.0, 1.0)")
    process.tell("d.sample(rng=rng)")
    before = process.memory()
    key = key_of(process.tell("answer = d.sample(50, rng=rng.at(0))"), before)
    assert key is not None
    (state,) = states(before, key)
    process.tell("del rng")
    assert found(process.memory(), state) == 0


def states(memory: list[np.ndarray], key: bytes) -> Iterator[list[int] | None]:
    """Return the state's words around the second fill's key: the generator's key, a wiped key, this key and thirteen others."""
    words = np.frombuffer(key, np.uint64)
    for part in memory:
        for at in np.flatnonzero(part == words[0]):
            state = part[at - 8 : at + 56]
            assert not state[4:8].any(), "the first fill's key is wiped"
            assert state[:4].all()
            assert state[8:].all()
            yield [int(word) for word in (*state[:4], *state[8:])]


KEYED = """
rng = sn.KeyedRng(key, "r"); key[:] = bytes(32); d = sn.DiscreteLaplace(1.0, 1)
def release(n): return d.release(np.zeros(n, int), labels=np.arange(n), statistic="s", rng=rng, threads=1)
"""


def test_a_keyed_generator_holds_no_secret_and_its_keys_are_wiped(process):
    """The secret is wiped; midstates of its derived keys are in memory until the generator is deleted."""
    secret = np.random.default_rng(4).bytes(32)
    process.tell("unmask()", bytes(byte ^ MASK for byte in secret))
    assert found(process.memory(), words_of(secret)) >= 4, "the caller's own copy"
    process.tell(KEYED)
    assert found(process.memory(), words_of(secret)) == 0
    states = midstates(keyed.hmac(secret, b"stairnoise/keyed1/noise"))
    live = found(process.memory(), states)
    assert live >= len(states), "the generator's"
    mechanism = keyed.mechanism("discrete_laplace", [("eps", 1.0), ("sensitivity", 1)])
    head = keyed.head("r", "s", mechanism, 1, mechanism, "value")
    of_all = keyed.hmac(keyed.hmac(secret, b"stairnoise/keyed1/noise"), head)
    for n in (1, 5, 3000):
        process.tell(f"kept{n} = release({n})")
        memory = process.memory()
        left = words_of(of_all) + midstates(of_all) + [word for key in keyed.keys(secret, head) for word in words_of(key)]
        assert found(memory, left) == 0, n
        rows = [keyed.row(secret, head, "value", ("I", i), 0) for i in range(n)]
        assert traces(memory, [stream.word(row, 0, 0) for row in rows]) <= LEFT, n
        assert found(memory, states) == live, "no copy remains except the generator's"
    process.tell("shown = [repr(rng), rng.fingerprint([1, 2], ['a', 'b']), rng.__dask_tokenize__(), hash(rng)]")
    assert found(process.memory(), words_of(secret)) == 0
    process.tell("del rng")
    assert found(process.memory(), words_of(secret) + states) == 0


def test_a_refused_secret_leaves_no_copy(process):
    secret = np.random.default_rng(6).bytes(32)
    process.tell("unmask()", bytes(byte ^ MASK for byte in secret))
    process.tell("try: sn.KeyedRng(key + key[:8], 'r')\nexcept sn.ParameterError as e: error = e\nkey[:] = bytes(32)")
    # The sum was the caller's own; what stairnoise copied of it is gone.
    assert found(process.memory(), words_of(secret)) <= 4


def test_a_function_leaves_no_keys_after_a_call(process):
    secret = np.random.default_rng(5).bytes(32)
    process.tell("unmask()", bytes(byte ^ MASK for byte in secret))
    process.tell(KEYED.replace("(key,", "(lambda: key,").replace("key[:] = bytes(32); ", ""))
    process.tell("kept = release(1000)")
    process.tell("key[:] = bytes(32)")
    memory = process.memory()
    keys = [keyed.hmac(secret, b"stairnoise/keyed1/" + purpose) for purpose in (b"noise", b"fingerprint")]
    assert found(memory, words_of(secret) + [word for key in keys for word in words_of(key) + midstates(key)]) == 0


def midstates(key: bytes) -> list[int]:
    """Return both states of HMAC-SHA256 after the key's block, as 64-bit words of memory."""
    blocks = (bytes(byte ^ pad for byte in key.ljust(64, b"\0")) for pad in (0x36, 0x5C))
    return [word for block in blocks for word in words_of(np.array(compressed(block), np.uint32).tobytes())]


def compressed(block: bytes) -> list[int]:
    """Return SHA-256's state after one block (FIPS 180-4, section 6.2.2), which hashlib does not return."""
    primes = [n for n in range(2, 312) if all(n % d for d in range(2, n))]

    def root(n: int, power: int) -> int:
        """Return the first 32 bits of a root's fractional part."""
        low, high = 0, n << 32
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if middle**power <= n << 32 * power else (low, middle)
        return low % 2**32

    def turned(x: int, *by: int) -> int:
        return ((x >> by[0] | x << 32 - by[0]) ^ (x >> by[1] | x << 32 - by[1]) ^ (x >> by[2] | x << 32 - by[2])) % 2**32

    def shifted(x: int, a: int, b: int, c: int) -> int:
        return ((x >> a | x << 32 - a) ^ (x >> b | x << 32 - b) ^ x >> c) % 2**32

    start = [root(prime, 2) for prime in primes[:8]]
    w = [int.from_bytes(block[i : i + 4], "big") for i in range(0, 64, 4)]
    for t in range(16, 64):
        w.append((shifted(w[t - 2], 17, 19, 10) + w[t - 7] + shifted(w[t - 15], 7, 18, 3) + w[t - 16]) % 2**32)
    a, b, c, d, e, f, g, h = start
    for t, prime in enumerate(primes[:64]):
        first = h + turned(e, 6, 11, 25) + (e & f ^ ~e & g) + root(prime, 3) + w[t]
        second = turned(a, 2, 13, 22) + (a & b ^ a & c ^ b & c)
        a, b, c, d, e, f, g, h = (first + second) % 2**32, a, b, c, (d + first) % 2**32, e, f, g
    return [(x + y) % 2**32 for x, y in zip(start, (a, b, c, d, e, f, g, h), strict=True)]
