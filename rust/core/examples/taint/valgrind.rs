//! The client requests of memcheck that the check needs (`valgrind/memcheck.h`). Outside Valgrind they do nothing and return 0.

use std::arch::asm;
use std::ptr::from_mut;

const COUNT_ERRORS: u64 = 0x1201;
const RUNNING_ON_VALGRIND: u64 = 0x1001;
const MEMCHECK: u64 = (b'M' as u64) << 24 | (b'C' as u64) << 16;
const MAKE_MEM_UNDEFINED: u64 = MEMCHECK + 1;
const MAKE_MEM_DEFINED: u64 = MEMCHECK + 2;
const GET_VBITS: u64 = MEMCHECK + 8;

#[inline(never)]
fn request(number: u64, first: u64, second: u64, third: u64) -> u64 {
    let arguments = [number, first, second, third, 0, 0];
    let mut answer = 0_u64;
    // SAFETY: outside Valgrind, rotations of a register by 128 bits in all and an exchange of a register with itself change nothing. Inside, the
    // requests above read and write only validity bits, and the bytes of `GET_VBITS`, which belong to a slice.
    unsafe {
        asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") arguments.as_ptr(),
            inout("rdx") answer,
            out("rdi") _,
        );
    }
    answer
}

/// Whether the program runs on Valgrind.
pub fn is_here() -> bool {
    request(RUNNING_ON_VALGRIND, 0, 0, 0) != 0
}

/// The number of branches and addresses that have depended on secrets.
pub fn errors() -> u64 {
    request(COUNT_ERRORS, 0, 0, 0)
}

/// Makes `data` secret.
pub fn classify<T>(data: &mut [T]) {
    request(MAKE_MEM_UNDEFINED, data.as_mut_ptr() as u64, size_of_val(data) as u64, 0);
}

/// Makes a word secret.
pub fn classify_word(word: &mut u64) {
    classify(std::slice::from_mut(word));
}

/// Makes a word public.
pub fn declassify(word: &mut u64) {
    request(MAKE_MEM_DEFINED, from_mut(word) as u64, 8, 0);
}

/// How many elements of `data` have a secret bit.
pub fn secrets<T>(data: &[T]) -> usize {
    let mut bits = vec![0_u8; size_of_val(data)];
    request(GET_VBITS, data.as_ptr() as u64, bits.as_mut_ptr() as u64, bits.len() as u64);
    bits.chunks(size_of::<T>())
        .filter(|element| element.iter().any(|byte| *byte != 0))
        .count()
}
