#!/bin/sh
# Makes the interpreters in which scripts/try_wheel.py runs wheels that this machine cannot install; they go to target/pythons.
#
#   scripts/other_pythons.sh aarch64              Debian's for arm64, with its C library, for the emulator; needs mmdebstrap and qemu-user
#   scripts/other_pythons.sh musl SOURCE          built from CPython's sources, with musl; needs musl-gcc (Debian: musl-tools)
#   scripts/other_pythons.sh aarch64-musl SOURCE  built with Debian's musl for arm64, for the emulator; needs mmdebstrap, qemu-user and
#                                                 gcc-aarch64-linux-gnu
#   scripts/other_pythons.sh free-threaded SOURCE built from the sources of CPython 3.14 or later, without the interpreter's lock; needs
#                                                 zlib and libffi (Debian: zlib1g-dev, libffi-dev). For FREE of scripts/wheels.sh
#
# SOURCE is a folder of CPython's sources, as from `apt-get source python3.11`. An interpreter takes minutes. If a tool is missing, one
# line names it, and the exit status is 1.
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

# debian FOLDER PACKAGES: unpacks Debian's packages for arm64.
debian() {
    mmdebstrap --quiet --variant=extract --arch=arm64 --include="$2" bookworm "$1" http://deb.debian.org/debian
}

aarch64() {
    emulator
    rm -rf "$pythons/aarch64"
    debian "$pythons/aarch64" python3,libstdc++6,zlib1g,libffi8,libexpat1
    # `-0` makes `sys.executable` this script, which runs even if the kernel does not know the emulator.
    cat >"$pythons/aarch64/python" <<'PYTHON'
#!/bin/sh
root=$(dirname "$0")
QEMU_LD_PREFIX=$root PYTHONHOME=$root/usr exec qemu-aarch64 -0 "$0" "$root/usr/bin/python3.11" "$@"
PYTHON
    chmod +x "$pythons/aarch64/python"
    "$pythons/aarch64/python" -c 'import sys; print(sys.executable, sys.version)'
}

# compile PLATFORM COMPILER [ARGUMENT OF CONFIGURE...], in a copy of the sources. The standard library's modules are linked into the
# interpreter; modules that need another library are left out.
compile() {
    cat >musl-cc <<CC
#!/bin/sh
# CPython asks for the platform's name.
case " \$* " in *' --print-multiarch '*) echo $1 ;; *) exec $2 "\$@" ;; esac
CC
    chmod +x musl-cc
    shift 2
    ./configure --quiet --without-ensurepip --disable-test-modules CC="$PWD/musl-cc" PKG_CONFIG=false OPT='-O1 -DNDEBUG -fwrapv' "$@"
    sed -e 's/\*shared\*/*static*/' -e '/zlib\|_ssl\|_hashlib\|sqlite\|ctypes\|curses\|_uuid\|_bz2\|_lzma\|_crypt\|nis\|readline\|_tkinter\|gdbm\|dbm/d' \
        Modules/Setup.stdlib >Modules/Setup.local
    # The interpreter runs in its build folder, and needs only this file beside it.
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
    # The linker looks for the shared libc here; without it the interpreter would be static, and a static one cannot load modules.
    cp debian/lib/aarch64-linux-musl/libc.so debian/usr/lib/aarch64-linux-musl/
    # musl-gcc's specification for GCC, with the paths of this copy of musl.
    sed "s#/usr/\(include\|lib\)/aarch64-linux-musl#$PWD/debian&#g" debian/usr/lib/aarch64-linux-musl/musl-gcc.specs >musl-gcc.specs
    # CPython takes the C library's name from `--build`, hence musl there.
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
*) sed -n '2,15p' "$0" >&2; exit 2 ;;
esac
