"""Check a wheel before anybody installs it: its name, size and contents, and the machine that it needs.

    python scripts/check_wheel.py WHEEL...        exit 1 after a line for each thing that is wrong

auditwheel lists the symbols of glibc that the module needs and the instructions it was compiled for. abi3audit checks that a
wheel of the stable ABI needs nothing newer than CPython 3.10. Both must be on PATH. For Linux wheels the script also imports
pyelftools, which auditwheel installs.
"""

import io
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "python" / "stairnoise"

MAX_BYTES = 3 * 2**20
ABI3 = "cp310-abi3"
NAME = re.compile(r"stairnoise-(?P<version>[^-]+)-(?P<abi>cp310-abi3|(?P<free>cp3\d+)-(?P=free)t)-(?P<platform>[^-]+)\.whl")
# The only library that a module for musl may load is musl, under either of its names.
MUSL = re.compile(r"libc\.so|libc\.musl-\w+\.so\.1")
GLIBC = re.compile(r"manylinux_(\d+)_(\d+)_")


def version() -> str:
    found = re.search(r'^version = "(.+)"$', (ROOT / "Cargo.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None
    return found[1]


def sources() -> set[str]:
    """Name the package's files that belong in a wheel: all but the built module and caches."""
    files = (path for path in PACKAGE.rglob("*") if path.is_file() and path.suffix not in {".so", ".pyd", ".pyc"})
    return {"stairnoise/" + path.relative_to(PACKAGE).as_posix() for path in files}


def problems_of_name(wheel: Path) -> list[str]:
    match = NAME.fullmatch(wheel.name)
    if match is None:
        return ["its name has neither the stable ABI of CPython 3.10 nor a free-threaded CPython"]
    found = []
    if match["version"] != version():
        found.append(f"its version is {match['version']}, the project's is {version()}")
    if match["platform"].startswith("linux"):
        found.append("no manylinux or musllinux tag: its platform is this machine's Linux")
    return found


def problems_of_size(wheel: Path) -> list[str]:
    size = wheel.stat().st_size
    return [f"it has {size} bytes, more than {MAX_BYTES}"] if size > MAX_BYTES else []


def problems_of_contents(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
    modules = {name for name in names if re.fullmatch(r"stairnoise/_native\.[^/]*(so|pyd)", name)}
    metadata = {name for name in names if name.split("/")[0].endswith(".dist-info")}
    found = [f"{name} is missing" for name in sorted(sources() - names)]
    found += [f"{name} should not be in it" for name in sorted(names - sources() - modules - metadata)]
    if len(modules) != 1:
        found.append(f"it has {len(modules)} built modules")
    licences = {name.rpartition("/")[2] for name in metadata}
    found += [f"{name} is missing" for name in ("LICENSE-APACHE", "LICENSE-MIT") if name not in licences]
    return found


def problems_of_paths(wheel: Path) -> list[str]:
    """Find files that name the build folder: the wheel would differ in another folder."""
    folders = [str(folder).encode() for folder in (ROOT, Path.home() / ".cargo")]
    with zipfile.ZipFile(wheel) as archive:
        found = [name for name in archive.namelist() if any(folder in archive.read(name) for folder in folders)]
    return [f"{name} names a folder of this machine" for name in found]


def problems_of_symbols(wheel: Path) -> list[str]:
    """Compare auditwheel's report on the module with the platform tag in the wheel's name."""
    if GLIBC.search(wheel.name) is None:
        return []
    done = subprocess.run(["auditwheel", "show", "--json", str(wheel)], capture_output=True, text=True, check=True)
    report = json.loads(done.stdout)
    versions = sorted({version for found in report["versioned_symbols"].values() for version in found})
    print(f"  auditwheel: {report['overall_tag']}, with symbols of {', '.join(versions)}")
    return problems_of_report(report, wheel.name)


def problems_of_report(report: dict[str, Any], name: str) -> list[str]:
    """Compare the report with the wheel's name, which promises a platform."""
    found = []
    promised, needed = glibc(name), glibc(report["overall_tag"])
    if needed is None or promised is None or needed > promised:
        found.append(f"it needs {report['overall_tag']}, and its name promises less")
    if report["external_libs"]:
        found.append(f"it needs libraries that manylinux does not have: {', '.join(report['external_libs'])}")
    if report["unsupported_isa"]:
        found.append("it was compiled for instructions that the architecture's baseline lacks")
    return found


def problems_of_elf(wheel: Path) -> list[str]:
    """Compare the module's processor, and for musl the libraries that it loads, with the wheel's name."""
    if "linux" not in wheel.name:
        return []
    from elftools.elf.dynamic import DynamicSection
    from elftools.elf.elffile import ELFFile

    with zipfile.ZipFile(wheel) as archive:
        (module,) = (name for name in archive.namelist() if name.endswith(".so"))
        elf = ELFFile(io.BytesIO(archive.read(module)))
    dynamic = [section for section in elf.iter_sections() if isinstance(section, DynamicSection)]
    needed = [tag.needed for section in dynamic for tag in section.iter_tags("DT_NEEDED")]
    print(f"  {elf['e_machine']}, loads {', '.join(needed)}")
    return problems_of_module(elf["e_machine"], needed, wheel.name)


def problems_of_module(machine: str, needed: list[str], name: str) -> list[str]:
    architecture = machine.removeprefix("EM_").lower()
    found = []
    if not name.endswith(f"_{architecture}.whl"):
        found.append(f"its module is for {architecture}, but its name has another processor")
    if "-musllinux_" in name:
        found += [f"it needs {library}, which is not musl's" for library in needed if not MUSL.fullmatch(library)]
    return found


def glibc(tag: str) -> tuple[int, int] | None:
    found = GLIBC.search(tag)
    return None if found is None else (int(found[1]), int(found[2]))


def problems_of_abi3(wheel: Path) -> list[str]:
    if ABI3 not in wheel.name:
        return []
    done = subprocess.run(["abi3audit", "--strict", "--summary", str(wheel)], capture_output=True, text=True, check=False)
    if done.returncode:
        return [f"abi3audit: {done.stdout}{done.stderr}"]
    print("  abi3audit: nothing newer than its tag")
    return []


CHECKS = (
    problems_of_name,
    problems_of_size,
    problems_of_contents,
    problems_of_paths,
    problems_of_symbols,
    problems_of_elf,
    problems_of_abi3,
)


def main() -> int:
    wheels = [Path(name) for name in sys.argv[1:]]
    if not wheels:
        sys.exit("check_wheel: no wheel was named")
    status = 0
    for wheel in wheels:
        print(f"{wheel.name}: {wheel.stat().st_size / 2**20:.2f} MiB")
        for problem in (problem for check in CHECKS for problem in check(wheel)):
            print(f"  WRONG: {problem}")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
