//! Releases in a web page without a framework: JavaScript calls this WebAssembly with numbers only, as `check.mjs` does.
//!
//! ```text
//! cargo build --release -p stairnoise --no-default-features --example browser --target wasm32-unknown-unknown
//! ```
//!
//! There is no operating system that could give a key, so the page gives one.
#![allow(unsafe_code, reason = "names that JavaScript knows")]

use std::mem::take;
use std::ptr::{null, null_mut};
use std::sync::{Mutex, MutexGuard, PoisonError};

use stairnoise::{Generator, Laplace, Mechanism};

static PAGE: Mutex<Page> = Mutex::new(Page {
    generator: None,
    answers: Vec::new(),
    released: Vec::new(),
});

struct Page {
    generator: Option<Generator>,
    /// True answers to be released.
    answers: Vec<f64>,
    /// The last release.
    released: Vec<f64>,
}

fn page() -> MutexGuard<'static, Page> {
    PAGE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets the key of all later noise: 32 bytes as four little-endian words.
// SAFETY: nothing else has this name.
#[unsafe(no_mangle)]
pub extern "C" fn set_key(first: u64, second: u64, third: u64, fourth: u64) {
    let mut key = [0; 32];
    for (bytes, word) in key.as_chunks_mut().0.iter_mut().zip([first, second, third, fourth]) {
        *bytes = word.to_le_bytes();
    }
    page().generator = Some(Generator::from_key(&key));
}

/// Returns where the page must write `n` true answers, float64, before it calls `release`; null if memory runs out.
// SAFETY: nothing else has this name.
#[unsafe(no_mangle)]
pub extern "C" fn answers(n: usize) -> *mut f64 {
    let answers = &mut page().answers;
    answers.clear();
    if answers.try_reserve_exact(n).is_err() {
        return null_mut();
    }
    answers.resize(n, 0.0);
    answers.as_mut_ptr()
}

/// Releases these answers with Laplace noise, once, and returns where the released float64 begin; they stay there until the next release.
///
/// Returns null if there is no key, no memory or no such mechanism, or if an answer is not finite.
// SAFETY: nothing else has this name.
#[unsafe(no_mangle)]
pub extern "C" fn release(eps: f64, sensitivity: f64) -> *const f64 {
    let mut page = page();
    let answers = take(&mut page.answers);
    let Some(generator) = &mut page.generator else {
        return null();
    };
    let Ok(released) = Laplace::new(eps, sensitivity).map(|mechanism| mechanism.release_vec(generator, &answers)) else {
        return null();
    };
    released.map_or(null(), |released| {
        page.released = released;
        page.released.as_ptr()
    })
}
