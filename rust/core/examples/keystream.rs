//! Writes raw words to standard output, for statistical tests: `cargo run --release --example keystream -- fill 1000 | …`.
//!
//! The first argument selects the words, the second their number. `fill`: the words of one fill. `fills`: the first eight words of each fill.
//! `children`: the first eight words of each child. `os`: the first eight words of each fill, with keys from the operating system. `bits`: the words
//! of a bit generator, and `bits-os`: the same with a key from the operating system.

use std::io::Write;

use stairnoise::{BitGenerator, Generator};

/// Words written at a time.
const PART: usize = 1 << 12;

/// Words of a short fill.
const SHORT: usize = 8;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, arrangement, count] = &*arguments else {
        return Err("usage: keystream fill|fills|children|os COUNT".into());
    };
    let count: usize = count.parse()?;
    let mut generator = match &**arrangement {
        "os" => Generator::from_os()?,
        "fill" | "fills" | "children" | "bits" | "bits-os" => Generator::from_seed(20),
        other => return Err(format!("unknown words: {other}").into()),
    };
    let bits = match &**arrangement {
        "bits-os" => BitGenerator::from_os()?,
        _ => BitGenerator::from_key(&[20; 32])?,
    };
    let long = generator.next(count)?;
    let mut part = vec![0; PART];
    let mut out = std::io::stdout().lock();
    for first in (0..count).step_by(PART) {
        let part = &mut part[..PART.min(count - first)];
        match &**arrangement {
            "fill" => long.keystream(first as u64, part),
            "bits" | "bits-os" => part.fill_with(|| bits.next_word()),
            "children" => {
                for few in part.chunks_mut(SHORT) {
                    generator.spawn()?.next(few.len())?.keystream(0, few);
                }
            }
            _ => {
                for few in part.chunks_mut(SHORT) {
                    generator.next(few.len())?.keystream(0, few);
                }
            }
        }
        let bytes: Vec<u8> = part.iter().flat_map(|word| word.to_le_bytes()).collect();
        // The reader may have closed the pipe.
        if out.write_all(&bytes).is_err() {
            break;
        }
    }
    Ok(())
}
