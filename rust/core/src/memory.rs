//! Memory whose size follows an input. Where memory runs out, these functions return an error; `Vec` alone would abort the process.

use std::sync::OnceLock;

/// The system has no memory left. Part of an output may have been written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory;

/// What a cell holds, made first if it holds nothing. Two threads may both make it: the first stays.
pub(crate) fn made<T>(cell: &OnceLock<T>, create: impl FnOnce() -> Result<T, OutOfMemory>) -> Result<&T, OutOfMemory> {
    if let Some(made) = cell.get() {
        return Ok(made);
    }
    let made = create()?;
    Ok(cell.get_or_init(|| made))
}

pub(crate) fn with_capacity<T>(n: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut vector = Vec::new();
    vector.try_reserve_exact(n).map_err(|_| OutOfMemory)?;
    Ok(vector)
}

pub(crate) fn filled<T: Clone>(value: T, n: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut vector = with_capacity(n)?;
    vector.resize(n, value);
    Ok(vector)
}

/// Makes the vector `n` elements long: the first of those it had, or zeros.
pub(crate) fn resize<T: Clone + Default>(vector: &mut Vec<T>, n: usize) -> Result<(), OutOfMemory> {
    vector
        .try_reserve_exact(n.saturating_sub(vector.len()))
        .map_err(|_| OutOfMemory)?;
    vector.resize(n, T::default());
    Ok(())
}

/// Whether there is room for a few small things. `Arc` and `Box` have no fallible form, but memory given back a moment ago is found again.
pub(crate) fn has_room() -> Result<(), OutOfMemory> {
    const ROOM: usize = 1 << 13;
    let mut room = Vec::<u8>::new();
    room.try_reserve_exact(ROOM).map_err(|_| OutOfMemory)?;
    // The compiler may leave out memory that is never read.
    core::hint::black_box(&room);
    Ok(())
}

pub(crate) fn push<T>(vector: &mut Vec<T>, element: T) -> Result<(), OutOfMemory> {
    vector.try_reserve(1).map_err(|_| OutOfMemory)?;
    vector.push(element);
    Ok(())
}

pub(crate) fn collected<T>(elements: impl IntoIterator<Item = T>) -> Result<Vec<T>, OutOfMemory> {
    let elements = elements.into_iter();
    let mut vector = with_capacity(elements.size_hint().0)?;
    elements.into_iter().try_for_each(|element| push(&mut vector, element))?;
    Ok(vector)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_an_error() {
        // With 32 bits this would be 2 GiB, which a system may have.
        #[cfg(target_pointer_width = "64")]
        assert_eq!(filled(0_u64, usize::MAX / 16), Err(OutOfMemory));
        assert_eq!(filled(0_u64, usize::MAX), Err(OutOfMemory));
        assert_eq!(collected((0..usize::MAX).map(|_| [0_u64; 64])), Err(OutOfMemory));
        assert_eq!(filled(7, 3), Ok(vec![7; 3]));
        assert_eq!(collected([1, 2].into_iter().chain([3])), Ok(vec![1, 2, 3]));
        let mut vector = vec![1];
        push(&mut vector, 2).unwrap();
        resize(&mut vector, 3).unwrap();
        assert_eq!(vector, [1, 2, 0]);
        assert_eq!(resize(&mut vector, usize::MAX), Err(OutOfMemory));
    }

    /// Each alone is a size that a vector may have, and with 32 bits even a size that there may be memory for. Nothing is written to it.
    #[test]
    #[cfg_attr(miri, ignore = "Miri takes memory for what is reserved")]
    fn what_the_system_does_not_have_is_an_error() {
        let large = || with_capacity::<u8>(isize::MAX as usize / 4 * 3);
        assert!([large(), large(), large()].contains(&Err(OutOfMemory)));
    }
}
