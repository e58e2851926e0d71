#!/bin/sh
# Interpreters for wheels that this machine cannot install, under target/pythons: what scripts/try_wheel.py runs.
#
#   scripts/other_pythons.sh aarch64              Debian's for arm64, with its C library, for the emulator; needs mmdebstrap and qemu-user
#   scripts/other_pythons.sh musl SOURCE          one built of CPython's sources, a folder, with musl; needs musl-gcc (Debian: musl-tools)
#   scripts/other_pythons.sh aarch64-musl SOURCE  the same with Debian's musl for arm64, for the emulator; needs both tools of the first, and
#                                                 gcc-aarch64-linux-gnu
#   scripts/other_pythons.sh free-threaded SOURCE one built of CPython's sources, from 3.14 on, without the interpreter's lock; needs zlib
#                                                 and libffi (Debian: zlib1g-dev, libffi-dev). For FREE of scripts/wheels.sh
#
# SOURCE as from `apt-get source python3.11`. Minutes each. One line for a tool that is missing, and exit 1.
#
#   PYTHON        for `aarch64-musl`: the same 3.x for this machine, python3 by default
#   JOBS          for make, 1 by default
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

emulator() {
    need mmdebstrap 'mmdebstrap. On Debian or Ubuntu: apt install mmdebstrap.'
    need qemu-aarch64 'qemu-aarch64. On Debian or Ubuntu: apt install qemu-user.'
}

# debian FOLDER PACKAGES: those for arm64, unpacked.
debian() {
    mmdebstrap --quiet --variant=extract --arch=arm64 --include="$2" bookworm "$1" http://deb.debian.org/debian
}

aarch64() {
    emulator
    rm -rf "$pythons/aarch64"
    debian "$pythons/aarch64" python3,libstdc++6,zlib1g,libffi8,libexpat1
    # It calls itself by this name, so that `sys.executable` can be run where the kernel does not know the emulator.
    cat >"$pythons/aarch64/python" <<'PYTHON'
#!/bin/sh
root=$(dirname "$0")
QEMU_LD_PREFIX=$root PYTHONHOME=$root/usr exec qemu-aarch64 -0 "$0" "$root/usr/bin/python3.11" "$@"
PYTHON
    chmod +x "$pythons/aarch64/python"
    "$pythons/aarch64/python" -c 'import sys; print(sys.executable, sys.version)'
}

# compile PLATFORM COMPILER [ARGUMENT OF CONFIGURE...], in a copy of the sources. Modules of the standard library are part of the
# interpreter, and those that need another library are left out.
compile() {
    cat >musl-cc <<CC
#!/bin/sh
# The name that the platform has for CPython.
case " \$* " in *' --print-multiarch '*) echo $1 ;; *) exec $2 "\$@" ;; esac
CC
    chmod +x musl-cc
    shift 2
    ./configure --quiet --without-ensurepip --disable-test-modules CC="$PWD/musl-cc" PKG_CONFIG=false OPT='-O1 -DNDEBUG -fwrapv' "$@"
    sed -e 's/\*shared\*/*static*/' -e '/zlib\|_ssl\|_hashlib\|sqlite\|ctypes\|curses\|_uuid\|_bz2\|_lzma\|_crypt\|nis\|readline\|_tkinter\|gdbm\|dbm/d' \
        Modules/Setup.stdlib >Modules/Setup.local
    # The interpreter and what it reads of its build: it runs where it was built.
    make --silent --jobs "${JOBS:-1}" python pybuilddir.txt >make.log 2>&1 || { tail make.log; exit 1; }
}

musl() {
    need musl-gcc 'musl-gcc. On Debian or Ubuntu: apt install musl-tools.'
    rm -rf "$pythons/musl"
    cp -R "$1" "$pythons/musl"
    cd "$pythons/musl"
    compile x86_64-linux-musl musl-gcc
    ./python -c 'import array, binascii, math, random; print("musl:", __import__("sys").version)'
}

aarch64_musl() {
    emulator
    need aarch64-linux-gnu-gcc 'aarch64-linux-gnu-gcc. On Debian or Ubuntu: apt install gcc-aarch64-linux-gnu.'
    rm -rf "$pythons/aarch64-musl"
    cp -R "$1" "$pythons/aarch64-musl"
    cd "$pythons/aarch64-musl"
    debian "$PWD/debian" musl,musl-dev
    # Where /lib is /usr/lib the linker finds it, and makes no static interpreter, which could load no module.
    cp debian/lib/aarch64-linux-musl/libc.so debian/usr/lib/aarch64-linux-musl/
    # What musl-gcc gives GCC, of this copy of musl.
    sed "s#/usr/\(include\|lib\)/aarch64-linux-musl#$PWD/debian&#g" debian/usr/lib/aarch64-linux-musl/musl-gcc.specs >musl-gcc.specs
    # Of the machine that builds, CPython takes over the C library's name.
    compile aarch64-linux-musl "aarch64-linux-gnu-gcc -specs $PWD/musl-gcc.specs" --host=aarch64-linux-musl --build=x86_64-linux-musl \
        --with-build-python="$(command -v "${PYTHON:-python3}")" AR=aarch64-linux-gnu-ar READELF=aarch64-linux-gnu-readelf \
        ac_cv_file__dev_ptmx=no ac_cv_file__dev_ptc=no ac_cv_buggy_getaddrinfo=no
    mv python python.aarch64
    cat >python <<'PYTHON'
#!/bin/sh
root=$(dirname "$0")
QEMU_LD_PREFIX=$root/debian exec qemu-aarch64 -0 "$0" "$root/python.aarch64" "$@"
PYTHON
    chmod +x python
    ./python -c 'import array, binascii, math, random, sys; print(sys.executable, sys.version)'
}

free_threaded() {
    rm -rf "$pythons/free-threaded"
    cp -R "$1" "$pythons/free-threaded"
    cd "$pythons/free-threaded"
    ./configure --quiet --disable-gil --with-ensurepip --disable-test-modules --prefix="$PWD/installed" OPT='-O1 -DNDEBUG -fwrapv'
    make --silent --jobs "${JOBS:-1}" install >make.log 2>&1 || { tail make.log; exit 1; }
    installed/bin/python3 -c 'import ctypes, sys, zlib; assert not sys._is_gil_enabled(); print(sys.executable, sys.version)'
}

case "${1:-}" in
aarch64) aarch64 ;;
musl) musl "${2:?the folder of CPython's sources}" ;;
aarch64-musl) aarch64_musl "${2:?the folder of CPython's sources}" ;;
free-threaded) free_threaded "${2:?the folder of CPython's sources}" ;;
*) sed -n '2,14p' "$0" >&2; exit 2 ;;
esac
