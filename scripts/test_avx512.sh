#!/bin/sh
# Runs the crate's tests of kernels, stream and golden vectors on AVX-512 and VAES: on this processor if it has them (minutes), otherwise in the
# emulator Bochs, which starts a Linux kernel with the statically linked tests (all of them take more than an hour). Installs nothing.
#
#   scripts/test_avx512.sh [TESTS ...]      names of tests in the crate, or parts of them; all by default. Exit 0 if every test passed and none was
#                                           skipped because an instruction is missing
#
#   EMULATE   if not empty, uses the emulator in any case
#   KERNEL    the Linux kernel to start, a bzImage; by default the newest Debian cloud kernel in /boot. For one that is not installed:
#             apt-get download linux-image-VERSION-cloud-amd64 && dpkg-deb -x linux-image-*.deb . && KERNEL=boot/vmlinuz-VERSION-cloud-amd64
#   LIMIT     seconds before the emulator is stopped, six hours by default
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
# The exhaustive tests and the proofs are compiled for the baseline, so they do not test an instruction set.
select="$* --test-threads 1 --nocapture --skip kernel::tests::exhaustive --skip kernel::tests::proof --skip parallel"

fail() {
    printf 'test_avx512: %s\n' "$1" >&2
    exit 1
}

# judge OUTPUT NAMES: fails if no test ran, or if one was skipped.
judge() {
    grep -q '^test result: ok\. [1-9]' "$1" || fail "no test has a name with $2"
    if grep 'skipped: ' "$1"; then
        fail 'tests were skipped'
    fi
}

here() {
    for flag in avx512f avx512dq avx512vl avx512bw vaes; do
        grep -qw "$flag" /proc/cpuinfo || return 1
    done
}

work=$(mktemp -d)
emulator=
trap '[ -z "$emulator" ] || kill "$emulator" 2>/dev/null || true; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

if [ -z "${EMULATE:-}" ] && here; then
    cd "$root"
    # shellcheck disable=SC2086
    { cargo test --locked -p stairnoise --lib -- $select && echo all-passed; } 2>&1 | tee "$work/said"
    grep -q '^all-passed' "$work/said" || fail 'the tests did not pass'
    judge "$work/said" "$*"
    exit
fi

packages='bochs bochsbios busybox-static cpio isolinux syslinux-common xorriso'
kernel=${KERNEL:-$(ls /boot/vmlinuz-*-cloud-amd64 2>/dev/null | sort -V | tail -n 1)}
busybox=/bin/busybox
loader=/usr/lib/ISOLINUX/isolinux.bin
library=/usr/lib/syslinux/modules/bios/ldlinux.c32
bios=/usr/share/bochs/BIOS-bochs-latest
vga=/usr/share/bochs/VGABIOS-lgpl-latest

for tool in bochs cpio xorriso cargo; do
    command -v "$tool" >/dev/null || fail "$tool was not found. On Debian: apt install $packages"
done
for file in "$busybox" "$loader" "$library" "$bios" "$vga"; do
    [ -r "$file" ] || fail "$file is missing. On Debian: apt install $packages"
done
[ -r "$kernel" ] || fail "a kernel is needed: apt install linux-image-cloud-amd64, or KERNEL=path of a vmlinuz"
bochs --help cpu 2>&1 | grep -q '^corei7_icelake_u$' || fail "this Bochs has no corei7_icelake_u, the processor with AVX-512 and VAES"

# --- the tests, linked statically, and the vectors where the tests look for them
cd "$root"
tests=$(
    RUSTFLAGS='-C target-feature=+crt-static' \
        cargo test --locked --target x86_64-unknown-linux-gnu -p stairnoise --lib --no-run --message-format=json |
        sed -n 's/.*"executable":"\([^"]*\)".*/\1/p'
)
disk=$work/disk
mkdir -p "$work/iso" "$disk/dev" "$disk/proc" "$disk$root/rust/core" "$disk$root/tests"
cp "$busybox" "$disk/busybox"
strip -o "$disk/tests" "$tests"
cp -R tests/vectors "$disk$root/tests/vectors"

cat >"$disk/init" <<EOF
#!/busybox sh
/busybox mount -t devtmpfs none /dev
/tests $select && echo all-passed
/busybox sleep 1
/busybox poweroff -f
EOF
chmod +x "$disk/init"
(cd "$disk" && find . | cpio --create --format=newc --quiet | gzip -1 >"$work/iso/disk.gz")

# --- a CD that starts the tests. Linux fails on the PKU and XSAVES that Bochs 2.7 reports, and hangs with RDPID and similar instructions.
# `clearcpuid` hides them from Linux, by their numbers in arch/x86/include/asm/cpufeatures.h; programs still see them.
cp "$kernel" "$work/iso/vmlinuz"
cp "$loader" "$library" "$work/iso/"
cat >"$work/iso/isolinux.cfg" <<'EOF'
DEFAULT linux
PROMPT 0
LABEL linux
 KERNEL vmlinuz
 INITRD disk.gz
 APPEND console=ttyS0 quiet rdinit=/init mitigations=off lpj=100000 nopcid noinvpcid nofsgsbase nosmep nosmap nokaslr audit=0 clearcpuid=124,321,323,514,515,516,520,521,522,534,580,605
EOF
cd "$work"
xorriso -as mkisofs -quiet -o cd.iso -b isolinux.bin -c boot.cat -no-emul-boot -boot-load-size 4 -boot-info-table iso 2>xorriso.log ||
    fail "$(cat xorriso.log)"

cat >bochsrc <<EOF
config_interface: textconfig
display_library: rfb, options="timeout=0"
cpu: model=corei7_icelake_u, ips=50000000
memory: guest=1024, host=1024
romimage: file=$bios, options=fastboot
vgaromimage: file=$vga
ata0-master: type=cdrom, path=cd.iso, status=inserted
boot: cdrom
log: bochs.log
panic: action=fatal
com1: enabled=1, mode=file, dev=serial.txt
sound: driver=dummy
speaker: enabled=0
EOF
# The debugger in Debian's Bochs waits for this command.
echo continue >commands
: >serial.txt
timeout "${LIMIT:-21600}" bochs -q -f bochsrc -rc commands >bochs.out 2>&1 </dev/null &
emulator=$!
tail -f serial.txt --pid "$emulator"
wait "$emulator" || true # its exit code is 1 when the guest turns itself off
emulator=

grep -q '^all-passed' serial.txt || fail "the tests did not pass; the emulator's last words: $(tail -n 3 bochs.log)"
judge serial.txt "$*"
