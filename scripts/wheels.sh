#!/bin/sh
# The wheels and the source distribution that a release consists of, checked, then installed and tested.
#
#   scripts/wheels.sh [PYTEST ARGUMENT...]        into dist/; exit 0 if everything passed
#
#   PYTHON        builds, and is the first to test; python3 by default
#   PYTHONS       further interpreters that test the abi3 wheel
#   FREE          free-threaded interpreters, a wheel for each; by default whichever of python3.14t and python3.15t is found
#   MANYLINUX     the oldest glibc that the wheels run with, manylinux2014 (2.17) by default
#
# The arguments select what the suite runs on each artifact; without any it is the whole suite.
set -eu

cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
manylinux=${MANYLINUX:-manylinux2014}
work=$PWD/target/wheels
tools=$work/tools/bin

say() {
    printf '\n== %s\n' "$1"
}

# Of the environment nothing may name instructions that only this machine has, or another place for the products.
unset RUSTFLAGS CARGO_BUILD_RUSTFLAGS CARGO_BUILD_TARGET VIRTUAL_ENV CONDA_PREFIX PYO3_PYTHON
export CARGO_TARGET_DIR="$work"
# Messages of a panic name source files; where these lie on the building machine is nobody's business.
CARGO_ENCODED_RUSTFLAGS=$(printf -- '--remap-path-prefix=%s=stairnoise\037--remap-path-prefix=%s=cargo' "$PWD" "${CARGO_HOME:-$HOME/.cargo}")
export CARGO_ENCODED_RUSTFLAGS
# Times in the archives are the commit's.
if [ -z "${SOURCE_DATE_EPOCH:-}" ] && SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null); then
    export SOURCE_DATE_EPOCH
fi

say 'tools'
"$python" -m venv "$work/tools"
"$tools/python" -m pip install --quiet 'maturin==1.16.*' 'ziglang==0.17.*' 'auditwheel==6.8.*' 'abi3audit>=0.0.24'
rm -rf dist

# build INTERPRETER: zig links against the symbols of an old glibc, whichever one is here.
build() {
    case "$(uname -s)" in
    Linux) set -- "$1" --zig --compatibility "$manylinux" ;;
    *) set -- "$1" --compatibility pypi ;;
    esac
    PATH="$tools:$PATH" "$tools/maturin" build --release --locked --out dist --interpreter "$@"
}

say "a wheel for every CPython from 3.10 on"
build "$tools/python"

free=${FREE:-}
if [ -z "$free" ]; then
    for name in python3.14t python3.15t; do
        if command -v "$name" >/dev/null; then free="$free $name"; fi
    done
fi
if [ -n "$free" ]; then
    for name in $free; do
        say "a wheel for $name"
        build "$(command -v "$name")"
    done
else
    say 'NO WHEEL FOR FREE-THREADED PYTHON: neither python3.14t nor python3.15t was found, and FREE names none'
fi

say 'the source distribution'
"$tools/maturin" sdist --out dist

say 'checks of the archives'
PATH="$tools:$PATH" "$tools/python" scripts/check_wheel.py dist/*.whl

for artifact in dist/*-abi3-*.whl dist/*.tar.gz; do
    say "tests on $artifact"
    "$python" scripts/test_installed.py "$artifact" --python "$python" "$@"
done
for other in ${PYTHONS:-}; do
    say "tests on the abi3 wheel with $other"
    "$python" scripts/test_installed.py dist/*-abi3-*.whl --python "$other" "$@"
done
for name in $free; do
    tag=$("$name" -c 'import sys; print("cp%d%dt" % sys.version_info[:2])')
    say "tests on the wheel for $name"
    "$python" scripts/test_installed.py dist/*-"$tag"-*.whl --python "$name" "$@"
done
say 'built, checked and tested:'
ls -l dist
(cd dist && sha256sum ./* 2>/dev/null || shasum -a 256 ./*)
if [ "$(uname -m)" = x86_64 ] && ! command -v qemu-x86_64 >/dev/null && ! command -v qemu-x86_64-static >/dev/null; then
    echo 'Not tried on an old processor: qemu-x86_64 was not found.'
fi
[ -n "$free" ] || echo 'No wheel for free-threaded Python was built.'
