//! Answers that are read where they lie.
#![allow(unsafe_code, reason = "memory that no slice may refer to, as it can change")]

use core::marker::PhantomData;

/// Answers in the order of their release, some at a time: a slice, or memory that is read when it is needed.
pub trait Answers<A, T> {
    /// The next answers, one for each of the places `out`, which are not yet written and may hold the answers.
    fn next(&mut self, out: &[T]) -> Unread<'_, A>;
}

impl<A: Copy, T> Answers<A, T> for &[A] {
    fn next(&mut self, out: &[T]) -> Unread<'_, A> {
        let (next, rest) = self.split_at(out.len());
        *self = rest;
        Unread::of(next)
    }
}

/// Answers in memory that another thread may write to: two reads of one answer can differ, so each is read once. A copy of all of them took a tenth of
/// a release.
#[derive(Clone, Copy, Debug)]
pub struct Unread<'a, A> {
    first: *const A,
    len: usize,
    of: PhantomData<&'a A>,
}

impl<'a, A: Copy> Unread<'a, A> {
    /// Answers that do not change.
    pub fn of(answers: &'a [A]) -> Self {
        // SAFETY: the answers of a slice can be read while it is borrowed.
        unsafe { Self::new(answers.as_ptr(), answers.len()) }
    }

    /// # Safety
    /// There are `len` aligned, initialised elements from `first` on, which can be read for the lifetime.
    pub unsafe fn new(first: *const A, len: usize) -> Self {
        let of = PhantomData;
        Self { first, len, of }
    }

    #[inline(always)]
    pub(crate) fn len(self) -> usize {
        self.len
    }

    /// Answer `i` as it is now.
    #[inline(always)]
    pub(crate) fn read(self, i: usize) -> A {
        assert!(i < self.len);
        // SAFETY: there are elements at positions below `len`.
        unsafe { self.first.add(i).read() }
    }

    /// The answers from position `i` on, as they are now.
    #[inline(always)]
    pub(crate) fn read_all<const N: usize>(self, i: usize) -> [A; N] {
        assert!(N <= self.len && i <= self.len - N);
        // SAFETY: there are N elements from position `i` on.
        unsafe { self.first.add(i).cast::<[A; N]>().read() }
    }

    /// Those from position `i` on.
    #[inline(always)]
    pub(crate) fn from(self, i: usize) -> Self {
        assert!(i <= self.len);
        // SAFETY: as many elements fewer.
        unsafe { Self::new(self.first.add(i), self.len - i) }
    }

    /// Copies the first of them.
    #[inline(always)]
    pub(crate) fn copy_to(self, own: &mut [A]) {
        for (i, own) in own.iter_mut().enumerate() {
            *own = self.read(i);
        }
    }
}
