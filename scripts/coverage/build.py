"""Builds what counts: the crate's test programs and the extension, and a folder to import the package from."""

import json
import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "target" / "coverage"
PACKAGE = ROOT / "python" / "stairnoise"
SITE = WORK / "site"

# Without link-time optimisation, which takes minutes; the counters are the same. The other checks are those of a release.
SETTINGS = ["opt-level=2", "debug=false", "debug-assertions=false", "overflow-checks=true"]
PROFILE = [word for setting in SETTINGS for word in ("--config", f"profile.dev.{setting}")]


def llvm(tool: str) -> str:
    """The path of one of LLVM's tools, of the compiler's own version: no other reads its profiles for certain."""
    sysroot = subprocess.run(["rustc", "--print", "sysroot"], check=True, capture_output=True, text=True).stdout.strip()
    for path in Path(sysroot).glob(f"lib/rustlib/*/bin/{tool}"):
        return str(path)
    raise SystemExit(f"coverage: {tool} is missing; install it by: rustup component add llvm-tools")


def instrumented() -> dict[str, str]:
    """The environment of a build that counts."""
    return {
        **os.environ,
        "RUSTC_WORKSPACE_WRAPPER": str(ROOT / "scripts" / "coverage" / "instrument.sh"),
        "CARGO_TARGET_DIR": str(WORK),
        # Of what runs while building; tests get places of their own.
        "LLVM_PROFILE_FILE": str(WORK / "build-%m.profraw"),
    }


def executables(command: list[str], kind: str) -> list[Path]:
    """What a cargo command builds, of this kind of target."""
    done = subprocess.run(
        [*command, "--message-format=json-render-diagnostics"],
        cwd=ROOT,
        env=instrumented(),
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    artifacts = [message for message in messages if message["reason"] == "compiler-artifact"]
    if kind == "cdylib":
        return [
            Path(name)
            for artifact in artifacts
            for name in artifact["filenames"]
            if "cdylib" in artifact["target"]["kind"] and Path(name).suffix in {".so", ".dylib", ".dll"}
        ]
    return [Path(artifact["executable"]) for artifact in artifacts if artifact["executable"] and artifact["profile"]["test"]]


def build_programs() -> list[Path]:
    """The crate's test programs."""
    return executables(
        ["cargo", "test", "--locked", "-p", "stairnoise", "--all-features", "--lib", "--tests", "--no-run"], "test"
    )


def build_extension() -> Path:
    """The extension module, instrumented."""
    [library] = executables(["cargo", "build", "--locked", "-p", "stairnoise-python", *PROFILE], "cdylib")
    return library


def place(extension: Path) -> None:
    """Makes `SITE`, from which the package is imported with this extension: its files are links to the sources."""
    shutil.rmtree(SITE, ignore_errors=True)
    folder = SITE / "stairnoise"
    folder.mkdir(parents=True)
    for path in PACKAGE.iterdir():
        if not path.name.startswith(("_native.", "__pycache__")) or path.suffix == ".pyi":
            (folder / path.name).symlink_to(path)
    shutil.copy2(extension, folder / "_native.abi3.so")
