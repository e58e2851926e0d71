//! Child processes, made with and without the C library's knowledge.
#![allow(unsafe_code, reason = "calls of the C library")]

use std::io::{Read, Write};

/// What `child` returns in a process made by `fork`. It must not allocate where another thread may hold the allocator's lock.
pub fn in_child<const N: usize>(fork: fn() -> libc::c_long, child: impl FnOnce() -> [u8; N]) -> [u8; N] {
    let (mut reader, mut writer) = std::io::pipe().unwrap();
    let process = fork();
    assert!(process >= 0, "fork failed");
    if process == 0 {
        let sent = writer.write_all(&child());
        // SAFETY: ends the child at once, without the handlers of its parent.
        unsafe { libc::_exit(i32::from(sent.is_err())) }
    }
    drop(writer);
    let mut bytes = [0; N];
    reader.read_exact(&mut bytes).unwrap();
    // SAFETY: waits for the child just made, and asks for no status.
    unsafe { libc::waitpid(process as libc::pid_t, core::ptr::null_mut(), 0) };
    bytes
}

/// Through the C library, whose handlers run.
pub fn fork() -> libc::c_long {
    // SAFETY: the child uses its own memory, allocates (which glibc allows) and ends by `_exit`.
    unsafe { libc::fork() }.into()
}

/// Past the C library: no handler runs.
pub fn clone() -> libc::c_long {
    // SAFETY: as `fork`; no stack is given, so that the child gets a copy of this one.
    unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) }
}
