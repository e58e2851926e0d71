"""scripts/test_wasm.sh names a missing tool, and then checks nothing."""

from pathlib import Path

import pytest

from tests.project.machine import Machine, needs_posix

pytestmark = needs_posix

TARGETS = ("wasm32-unknown-unknown", "wasm32-wasip1")


class Complete(Machine):
    """A machine with everything needed, including a library for each target."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "dirname", "ls", "sh")
        for target in TARGETS:
            (folder / target).mkdir()
            (folder / target / "libstd-0.rlib").touch()
        self.install("rustc", f'echo "{folder}/$4"')
        self.install("cargo", 'echo "cargo $*"; echo "$RUSTFLAGS|$CARGO_TARGET_WASM32_WASIP1_RUNNER"')
        self.install("node", 'case $1 in --no-warnings) ;; --version) echo v16.0.0 ;; *) echo "node $*" ;; esac')


@pytest.fixture
def machine(tmp_path: Path) -> Complete:
    return Complete(tmp_path)


def skipped(what: str) -> tuple[int, str, str]:
    return 0, f"skipped: the tests on WebAssembly need {what}\n", ""


def test_builds_and_runs_both(machine: Complete) -> None:
    page, system = TARGETS
    assert machine.run("test_wasm.sh", "golden::", "stream::") == (
        0,
        f"cargo build --locked --release -p stairnoise --no-default-features --example browser --target {page}\n"
        " -D warnings|\n"
        f"node rust/core/examples/browser/check.mjs target/{page}/release/examples/browser.wasm\n"
        f"cargo test --locked -p stairnoise --no-default-features --features rand,probe --target {system} --lib"
        " -- golden:: stream::\n"
        " -D warnings|node --no-warnings ../../scripts/run_wasi.mjs\n",
        "",
    )


def test_by_default_golden_vectors_are_replayed(machine: Complete) -> None:
    status, output, _ = machine.run("test_wasm.sh")
    assert status == 0
    assert " --lib -- golden:: golden_vectors " in output


def test_a_failed_build_is_a_failure(machine: Complete) -> None:
    machine.install("cargo", "exit 3")
    assert machine.run("test_wasm.sh")[0] == 3


def test_a_wrong_value_is_a_failure(machine: Complete) -> None:
    machine.install("node", "case $1 in --no-warnings) ;; *) exit 1 ;; esac")
    assert machine.run("test_wasm.sh")[0] == 1


@pytest.mark.parametrize("tool", ["rustc", "cargo"])
def test_without_rust(machine: Complete, tool: str) -> None:
    machine.remove(tool)
    assert machine.run("test_wasm.sh") == skipped(f"Rust; {tool} was not found.")


def test_without_node(machine: Complete) -> None:
    machine.remove("node")
    line = "Node 20 or newer; node was not found. On Debian or Ubuntu: apt install nodejs."
    assert machine.run("test_wasm.sh") == skipped(line)


def test_an_old_node(machine: Complete) -> None:
    machine.install("node", "case $1 in --version) echo v16.0.0 ;; *) exit 1 ;; esac")
    assert machine.run("test_wasm.sh") == skipped("Node 20 or newer; found v16.0.0.")


@pytest.mark.parametrize("target", TARGETS)
def test_a_target_is_added_or_named(machine: Complete, tmp_path: Path, target: str) -> None:
    (tmp_path / target / "libstd-0.rlib").unlink()
    line = f"Rust's standard library for {target}, of the same version as rustc. With rustup: rustup target add {target}."
    assert machine.run("test_wasm.sh") == skipped(line)
    machine.install("rustup", 'echo "rustup $*"')
    status, output, _ = machine.run("test_wasm.sh")
    assert status == 0
    assert output.startswith(f"rustup target add {target}\ncargo build")
