//! Records the path of some work through this program: the address of every instruction, and every address that it reads or writes.
//!
//! The processor traps after every instruction, in this process, and the signal's handler stores the registers.
#![allow(unsafe_code, reason = "a signal handler, the trap flag, and code read as bytes")]

use std::arch::asm;
use std::collections::HashMap;
use std::mem::zeroed;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};

/// General registers in the order of `ucontext_t`; the last is the instruction's address.
const ORDER: [Register; 17] = [
    Register::R8,
    Register::R9,
    Register::R10,
    Register::R11,
    Register::R12,
    Register::R13,
    Register::R14,
    Register::R15,
    Register::RDI,
    Register::RSI,
    Register::RBP,
    Register::RBX,
    Register::RDX,
    Register::RAX,
    Register::RCX,
    Register::RSP,
    Register::RIP,
];

type Registers = [i64; ORDER.len()];

/// The maximum number of instructions in a path; an instruction takes 136 bytes.
const MOST: usize = 1 << 18;

/// The maximum number of different instructions in all paths.
const CODE: usize = 1 << 15;

/// Bytes of the longest instruction.
const LONGEST: usize = 15;

static CAPACITY: AtomicPtr<Registers> = AtomicPtr::new(null_mut());
static STEPS: AtomicUsize = AtomicUsize::new(0);

/// Stores the registers before an instruction. If there is no room left, it only counts.
extern "C" fn keep(_: libc::c_int, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let step = STEPS.fetch_add(1, Ordering::Relaxed);
    if step < MOST {
        // SAFETY: the kernel gives a context, and there is room for `MOST` steps, which nobody reads while the trap flag is set.
        unsafe {
            let context: *const libc::ucontext_t = context.cast();
            let registers: *const Registers = (&raw const (*context).uc_mcontext.gregs).cast();
            *CAPACITY.load(Ordering::Relaxed).add(step) = *registers;
        }
    }
}

/// A digest of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Path {
    pub instructions: usize,
    digest: u64,
}

/// Room for a path, and this program's decoded instructions.
pub struct Tracer {
    room: Vec<Registers>,
    known: HashMap<i64, Step>,
}

/// An instruction and its operands in memory.
struct Step {
    instruction: Instruction,
    /// A bit for every operand in memory.
    operands: u32,
}

impl Tracer {
    pub fn new() -> Self {
        let mut room = vec![[0; ORDER.len()]; MOST];
        CAPACITY.store(room.as_mut_ptr(), Ordering::Relaxed);
        // The handler has its own stack, so that memory below the stack pointer stays unchanged. The stack is never freed.
        let stack = Vec::leak(vec![0_u8; 1 << 18]);
        // SAFETY: both calls are given live structures; the handler does nothing that a signal handler may not.
        unsafe {
            let stack = libc::stack_t {
                ss_sp: stack.as_mut_ptr().cast(),
                ss_flags: 0,
                ss_size: stack.len(),
            };
            assert_eq!(libc::sigaltstack(&raw const stack, null_mut()), 0);
            let mut action: libc::sigaction = zeroed();
            action.sa_sigaction = keep as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            assert_eq!(libc::sigaction(libc::SIGTRAP, &raw const action, null_mut()), 0);
        }
        Self {
            room,
            known: HashMap::with_capacity(CODE),
        }
    }

    /// The path of `work`. This function allocates nothing, so that `work` finds the same memory every time.
    pub fn path(&mut self, work: impl FnOnce()) -> Path {
        STEPS.store(0, Ordering::Relaxed);
        // SAFETY: this sets the thread's trap flag, and the trap's signal has a handler.
        unsafe { asm!("pushfq", "or qword ptr [rsp], 0x100", "popfq") };
        work();
        // SAFETY: this clears the trap flag.
        unsafe { asm!("pushfq", "and qword ptr [rsp], -0x101", "popfq") };
        let instructions = STEPS.load(Ordering::Relaxed);
        assert!((1..=MOST).contains(&instructions), "{instructions} instructions were seen");
        let mut digest = 0_u64;
        let mut mix = |word: u64| digest = (digest.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for registers in &self.room[..instructions] {
            let at = registers[ORDER.len() - 1];
            let step = self.known.entry(at).or_insert_with(|| Step::at(at.cast_unsigned()));
            mix(at.cast_unsigned());
            for operand in (0..u32::BITS).filter(|operand| step.operands >> operand & 1 == 1) {
                let address = step
                    .instruction
                    .virtual_address(operand, 0, |register, _, _| value(registers, register));
                mix(address.unwrap_or_else(|| panic!("an address from a vector: {:?}", step.instruction)));
            }
        }
        assert!(
            self.known.len() <= CODE,
            "there are so many different instructions that the map of them allocates memory"
        );
        Path { instructions, digest }
    }
}

impl Step {
    fn at(address: u64) -> Self {
        let pointer: *const u8 = std::ptr::with_exposed_provenance(address as usize);
        // SAFETY: this process ran the code, and more than an instruction follows.
        let bytes = unsafe { std::slice::from_raw_parts(pointer, LONGEST) };
        let instruction = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE).decode();
        // These instructions compute an address, or do nothing.
        let used = !matches!(instruction.mnemonic(), Mnemonic::Lea | Mnemonic::Nop);
        let in_memory = |operand| {
            let kind = instruction.op_kind(operand);
            used && matches!(kind, OpKind::Memory | OpKind::MemorySegRSI | OpKind::MemoryESRDI)
        };
        let operands = (0..instruction.op_count())
            .map(|operand| u32::from(in_memory(operand)) << operand)
            .sum();
        Self { instruction, operands }
    }
}

fn value(registers: &Registers, register: Register) -> Option<u64> {
    // Bases of segments do not change.
    if matches!(
        register,
        Register::DS | Register::ES | Register::SS | Register::CS | Register::FS | Register::GS
    ) {
        return Some(0);
    }
    let number = ORDER.iter().position(|one| *one == register)?;
    Some(registers[number].cast_unsigned())
}
