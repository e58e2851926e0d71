#!/bin/sh
# Interpreters for wheels that this machine cannot install, under target/pythons: what scripts/try_wheel.py runs.
#
#   scripts/other_pythons.sh aarch64      Debian's for arm64, with its C library, for the emulator; needs mmdebstrap and qemu-user
#   scripts/other_pythons.sh musl SOURCE  one built of CPython's sources, a folder, with musl; needs musl-gcc (Debian: musl-tools)
#
# SOURCE as from `apt-get source python3.11`. Minutes each. One line for a tool that is missing, and exit 1.
set -eu

cd "$(dirname "$0")/.."
pythons=$PWD/target/pythons
mkdir -p "$pythons"

need() {
    command -v "$1" >/dev/null || {
        printf '%s needs %s\n' "$0" "$2" >&2
        exit 1
    }
}

aarch64() {
    need mmdebstrap 'mmdebstrap. On Debian or Ubuntu: apt install mmdebstrap.'
    need qemu-aarch64 'qemu-aarch64. On Debian or Ubuntu: apt install qemu-user.'
    rm -rf "$pythons/aarch64"
    mmdebstrap --quiet --variant=extract --arch=arm64 --include=python3,libstdc++6,zlib1g,libffi8,libexpat1 bookworm "$pythons/aarch64" \
        http://deb.debian.org/debian
    # It calls itself by this name, so that `sys.executable` can be run where the kernel does not know the emulator.
    cat >"$pythons/aarch64/python" <<'PYTHON'
#!/bin/sh
root=$(dirname "$0")
QEMU_LD_PREFIX=$root PYTHONHOME=$root/usr exec qemu-aarch64 -0 "$0" "$root/usr/bin/python3.11" "$@"
PYTHON
    chmod +x "$pythons/aarch64/python"
    "$pythons/aarch64/python" -c 'import sys; print(sys.executable, sys.version)'
}

# Modules of the standard library are part of the interpreter, and those that need another library are left out.
musl() {
    need musl-gcc 'musl-gcc. On Debian or Ubuntu: apt install musl-tools.'
    rm -rf "$pythons/musl"
    cp -R "$1" "$pythons/musl"
    cd "$pythons/musl"
    cat >musl-cc <<'CC'
#!/bin/sh
# The name that the platform has for CPython.
case " $* " in *' --print-multiarch '*) echo x86_64-linux-musl ;; *) exec musl-gcc "$@" ;; esac
CC
    chmod +x musl-cc
    ./configure --quiet --without-ensurepip --disable-test-modules CC="$PWD/musl-cc" PKG_CONFIG=false OPT='-O1 -DNDEBUG -fwrapv'
    sed -e 's/\*shared\*/*static*/' -e '/zlib\|_ssl\|_hashlib\|sqlite\|ctypes\|curses\|_uuid\|_bz2\|_lzma\|_crypt\|nis\|readline\|_tkinter\|gdbm\|dbm/d' \
        Modules/Setup.stdlib >Modules/Setup.local
    # The interpreter and what it reads of its build: it runs where it was built.
    make --silent --jobs "${JOBS:-1}" pybuilddir.txt >make.log 2>&1 || { tail make.log; exit 1; }
    ./python -c 'import array, binascii, math, random; print("musl:", __import__("sys").version)'
}

case "${1:-}" in
aarch64) aarch64 ;;
musl) musl "${2:?the folder of CPython's sources}" ;;
*) sed -n '2,7p' "$0" >&2; exit 2 ;;
esac
