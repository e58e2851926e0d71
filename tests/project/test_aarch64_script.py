"""scripts/test_aarch64.sh prints one clear line and exits with 1 if a tool is missing; otherwise it calls cargo once."""

from pathlib import Path

import pytest

from tests.project.machine import Machine, needs_posix

TARGET = "aarch64-unknown-linux-gnu"

pytestmark = needs_posix


class Complete(Machine):
    """A machine with everything needed, including a library for the target and a loader of shared libraries."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "dirname", "sh")
        self.library = folder / "rust" / "libstd-0.rlib"
        self.loader = folder / "arm" / "lib" / "ld-linux-aarch64.so.1"
        for path in (self.library, self.loader):
            path.parent.mkdir(parents=True)
            path.touch()
        self.rust("x86_64-unknown-linux-gnu")
        self.install("cargo", 'echo "$CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER|$QEMU_LD_PREFIX|$RUSTFLAGS|$*"')
        self.install("aarch64-linux-gnu-gcc", f"echo '{self.loader}'")
        self.install("qemu-aarch64", "exit 1")

    def rust(self, host: str) -> None:
        """Install a fake compiler for `host` that knows the path of the target's library."""
        self.install("rustc", f"case $1 in -vV) echo 'host: {host}' ;; *) echo '{self.library.parent}' ;; esac")

    def test(self, *arguments: str, **extra: str) -> tuple[int, str, str]:
        return self.run("test_aarch64.sh", *arguments, **extra)


@pytest.fixture
def machine(tmp_path: Path) -> Complete:
    return Complete(tmp_path)


TESTS = f"test --locked --no-fail-fast -p stairnoise --all-features --target {TARGET}"


def test_cross_builds_and_emulates(machine: Complete) -> None:
    prefix = machine.loader.parents[1]
    assert machine.test("--lib", "golden") == (0, f"qemu-aarch64|{prefix}| -D warnings|{TESTS} --lib golden\n", "")


def test_the_emulator_may_be_the_static_one(machine: Complete) -> None:
    (machine.bin / "qemu-aarch64").rename(machine.bin / "qemu-aarch64-static")
    assert machine.test()[1].startswith("qemu-aarch64-static|")


def test_the_caller_s_linker_runner_and_prefix_stand(machine: Complete) -> None:
    (machine.bin / "qemu-aarch64").unlink()
    (machine.bin / "aarch64-linux-gnu-gcc").rename(machine.bin / "cross-cc")
    linker, runner = (f"CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_{name}" for name in ("LINKER", "RUNNER"))
    done = machine.test(**{linker: "cross-cc", runner: "emulate -v", "QEMU_LD_PREFIX": "/there"})
    assert done == (0, f"emulate -v|/there| -D warnings|{TESTS}\n", "")


def test_nothing_but_rust_is_needed_on_such_a_machine(machine: Complete) -> None:
    machine.rust(TARGET)
    (machine.bin / "aarch64-linux-gnu-gcc").unlink()
    (machine.bin / "qemu-aarch64").unlink()
    assert machine.test() == (0, f"|| -D warnings|{TESTS}\n", "")


@pytest.mark.parametrize(
    ("missing", "line"),
    [
        ("bin/rustc", "Rust; rustc was not found."),
        ("bin/cargo", "Rust; cargo was not found."),
        (
            "rust/libstd-0.rlib",
            f"Rust's standard library for {TARGET}, of the same version as rustc. With rustup: rustup target add {TARGET}.",
        ),
        (
            "bin/aarch64-linux-gnu-gcc",
            "a linker; aarch64-linux-gnu-gcc was not found. "
            "On Debian or Ubuntu: apt install gcc-aarch64-linux-gnu libc6-dev-arm64-cross.",
        ),
        ("bin/qemu-aarch64", "an emulator; qemu-aarch64 was not found. On Debian or Ubuntu: apt install qemu-user."),
        (
            "arm/lib/ld-linux-aarch64.so.1",
            "a C library; aarch64-linux-gnu-gcc knows of none. On Debian or Ubuntu: apt install libc6-dev-arm64-cross.",
        ),
    ],
)
def test_a_missing_tool(machine: Complete, tmp_path: Path, missing: str, line: str) -> None:
    (tmp_path / missing).unlink()
    assert machine.test() == (1, "", f"the tests on AArch64 need {line}\n")
