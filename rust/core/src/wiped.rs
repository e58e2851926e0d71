//! Numbers that are wiped: those that tell noise.
//!
//! `Zeroize` stores the elements of a slice one by one, because each store is volatile. Here they are stored as any others and the compiler is told
//! that they are looked at, which takes an eighth of the time.

use core::ops::{Deref, DerefMut};

use zeroize::{DefaultIsZeroes, optimization_barrier};

/// Overwrites all of them with zeros.
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

impl<T: DefaultIsZeroes> Drop for Wiped<T> {
    fn drop(&mut self) {
        self.0.clear();
        self.0.resize(self.0.capacity(), T::default());
        optimization_barrier(&self.0[..]);
    }
}
