#!/bin/sh
# Builds one wheel. The folder it is built in does not change a bit of it.
#
#   scripts/build_wheel.sh OUT [TARGET [INTERPRETER]]
#
#   OUT           the folder for the wheel
#   TARGET        a target of rustc, such as aarch64-unknown-linux-musl; this machine by default
#   INTERPRETER   a free-threaded CPython to build for; by default the wheel uses the stable ABI
#
#   PYTHON        python3 by default
#   MANYLINUX     the oldest glibc that the wheel runs with, manylinux2014 (2.17) by default
#   JOBS          the number of cargo's jobs
#
# zig, from PyPI, links against the symbols of an old glibc or of musl, for either architecture and with any C library on this machine.
set -eu

out=$1
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "$0")/.."
target=${2:-$(rustc -vV | sed -n 's/^host: //p')}
python=${PYTHON:-python3}
work=$PWD/target/wheels
tools=$work/tools/bin

# These variables could name instructions that only this machine has, or another place for the products.
unset RUSTFLAGS CARGO_BUILD_RUSTFLAGS CARGO_BUILD_TARGET VIRTUAL_ENV CONDA_PREFIX PYO3_PYTHON
export CARGO_TARGET_DIR="$work"
# A panic's message names a source file; its path must not reveal the building machine's folders.
CARGO_ENCODED_RUSTFLAGS=$(printf -- '--remap-path-prefix=%s=stairnoise\037--remap-path-prefix=%s=cargo' "$PWD" "${CARGO_HOME:-$HOME/.cargo}")
export CARGO_ENCODED_RUSTFLAGS
# Files in the archive have the commit's time.
if [ -z "${SOURCE_DATE_EPOCH:-}" ] && SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null); then
    export SOURCE_DATE_EPOCH
fi

[ -x "$tools/python" ] || "$python" -m venv "$work/tools"
# Other versions of maturin or ziglang make a different wheel.
"$tools/python" -m pip install --quiet maturin==1.16.0 ziglang==0.17.1 'auditwheel==6.8.*' 'abi3audit>=0.0.24'
if command -v rustup >/dev/null; then
    rustup --quiet target add "$target"
fi

case "$target" in
*-linux-gnu) set -- --zig --compatibility "${MANYLINUX:-manylinux2014}" --interpreter "${3:-$tools/python}" ;;
*-linux-musl) set -- --zig --compatibility musllinux_1_2 --interpreter "${3:-python3.10}" ;;
*) set -- --compatibility pypi --interpreter "${3:-$tools/python}" ;;
esac
# The folder holds only the new wheel, so its name need not be guessed.
rm -rf "$work/new"
PATH="$tools:$PATH" "$tools/maturin" build --release --locked ${JOBS:+--jobs "$JOBS"} --target "$target" --out "$work/new" "$@"
"$tools/python" scripts/normalise_wheel.py "$work/new"/*.whl
mv "$work/new"/*.whl "$out"
