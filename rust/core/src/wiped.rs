//! Numbers that are wiped because they reveal noise.
//!
//! `Zeroize` stores the elements of a slice one by one, because each store is volatile; that was a fifth of the time of vectors in the l2 norm. Here
//! they are stored normally, and a barrier makes the compiler treat them as read.

use core::fmt;
use core::ops::{Deref, DerefMut};

use zeroize::{DefaultIsZeroes, optimization_barrier};

pub(crate) fn wipe<T: DefaultIsZeroes>(numbers: &mut [T]) {
    numbers.fill(T::default());
    optimization_barrier(numbers);
}

/// A vector that is wiped on drop, all of its capacity.
pub(crate) struct Wiped<T: DefaultIsZeroes>(Vec<T>);

impl<T: DefaultIsZeroes> From<Vec<T>> for Wiped<T> {
    fn from(numbers: Vec<T>) -> Self {
        Self(numbers)
    }
}

impl<T: DefaultIsZeroes> fmt::Debug for Wiped<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wiped").finish_non_exhaustive()
    }
}

impl<T: DefaultIsZeroes> Deref for Wiped<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T: DefaultIsZeroes> DerefMut for Wiped<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.0
    }
}

impl<T: DefaultIsZeroes> Wiped<T> {
    /// Elements that were cut off are in the capacity still. Within it nothing is moved.
    fn wipe(&mut self) {
        self.0.resize(self.0.capacity(), T::default());
        wipe(&mut self.0);
    }
}

impl<T: DefaultIsZeroes> Drop for Wiped<T> {
    fn drop(&mut self) {
        self.wipe();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_the_capacity_is_wiped_where_it_lies() {
        let mut numbers = Wiped::from(vec![7_u64; 9]);
        let (place, capacity) = (numbers.as_ptr(), numbers.capacity());
        numbers.truncate(4);
        numbers.wipe();
        assert_eq!((numbers.as_ptr(), numbers.len()), (place, capacity));
        assert!(numbers.iter().all(|number| *number == 0));
    }
}
