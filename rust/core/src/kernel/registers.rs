//! Clearing the vector registers: what a kernel or a copy left there, the loader may save on the stack when a function is called for the first time.

/// Sets them to zero on x86-64; elsewhere, and in Miri, it does nothing.
pub(crate) fn clear() {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    x86_64::clear();
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[allow(
    unsafe_code,
    reason = "instructions that no intrinsic gives, and calls of functions compiled for more than the baseline"
)]
mod x86_64 {
    use core::arch::asm;
    use core::arch::x86_64::_mm256_zeroall;

    use super::super::tier::Tier;

    pub fn clear() {
        // `vzeroall` leaves registers 16 to 31 as they are.
        if Tier::Avx512.is_available() {
            // SAFETY: the processor has AVX-512 F.
            unsafe { zmm16_to_31() }
        }
        if Tier::Avx2.is_available() {
            // SAFETY: the processor has AVX.
            unsafe { ymm() }
        } else {
            xmm();
        }
    }

    /// An exclusive or of each register with itself.
    macro_rules! zero {
        ($numbers:literal, $text:literal, $($register:tt)+) => {
            // SAFETY: the instructions change the registers that are named, and neither memory, the stack nor flags.
            unsafe {
                asm!(
                    concat!(".irp n, ", $numbers), $text, ".endr",
                    $(out($register) _,)+
                    options(nomem, nostack, preserves_flags)
                )
            }
        };
    }

    #[target_feature(enable = "avx512f")]
    fn zmm16_to_31() {
        zero!(
            "16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31", "vpxord zmm\\n, zmm\\n, zmm\\n",
            "zmm16" "zmm17" "zmm18" "zmm19" "zmm20" "zmm21" "zmm22" "zmm23" "zmm24" "zmm25" "zmm26" "zmm27" "zmm28" "zmm29" "zmm30" "zmm31"
        );
    }

    /// All of 0 to 15, with the wider registers that they are part of.
    #[target_feature(enable = "avx")]
    fn ymm() {
        _mm256_zeroall();
    }

    fn xmm() {
        zero!(
            "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15", "xorps xmm\\n, xmm\\n",
            "xmm0" "xmm1" "xmm2" "xmm3" "xmm4" "xmm5" "xmm6" "xmm7" "xmm8" "xmm9" "xmm10" "xmm11" "xmm12" "xmm13" "xmm14" "xmm15"
        );
    }

    // On Windows a function gives registers 6 to 15 back as they were, also the one that clears them.
    #[cfg(all(test, not(windows)))]
    mod tests {
        use super::*;

        extern "C" fn all() {
            super::super::clear();
        }

        extern "C" fn baseline() {
            xmm();
        }

        /// Sets every bit of some registers by `$set`, calls a function, and gives what `$gather` finds in rax.
        macro_rules! left_by {
            ($function:ident, $set:tt, $gather:tt, $found:literal, $($n:literal)+) => {{
                let left: u64;
                // SAFETY: a function of the C ABI is called, all that it may change is named, and the processor has the instructions.
                unsafe {
                    asm!(
                        $(set!($set $n),)+
                        "call {function}",
                        $(gather!($gather $n),)+
                        $found,
                        function = sym $function,
                        out("rax") left,
                        clobber_abi("C"),
                    );
                }
                left
            }};
        }

        macro_rules! set {
            (xmm $n:literal) => {
                concat!("pcmpeqd xmm", $n, ", xmm", $n)
            };
            (ymm $n:literal) => {
                concat!("vpcmpeqd ymm", $n, ", ymm", $n, ", ymm", $n)
            };
            (zmm $n:literal) => {
                concat!("vpternlogd zmm", $n, ", zmm", $n, ", zmm", $n, ", 255")
            };
        }

        /// Into the first of them.
        macro_rules! gather {
            (xmm $n:literal) => {
                concat!("por xmm0, xmm", $n)
            };
            (ymm $n:literal) => {
                concat!("vpor ymm0, ymm0, ymm", $n)
            };
            (zmm $n:literal) => {
                concat!("vporq zmm16, zmm16, zmm", $n)
            };
        }

        /// Evidence: what is in the registers after a call, of all bits that were there before.
        #[test]
        fn no_register_keeps_a_bit() {
            let found =
                left_by!(baseline, xmm, xmm, "packsswb xmm0, xmm0\nmovq rax, xmm0", 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
            assert_eq!(found, 0);
            if Tier::Avx2.is_available() {
                let found = left_by!(
                    all, ymm, ymm, "xor eax, eax\nvptest ymm0, ymm0\nsetnz al\nvzeroupper", 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
                );
                assert_eq!(found, 0);
            }
            if Tier::Avx512.is_available() {
                let found = left_by!(
                    all, zmm, zmm, "vptestmq k1, zmm16, zmm16\nkmovw eax, k1", 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
                );
                assert_eq!(found, 0);
            }
        }
    }
}
