//! Redaction of text that comes in pieces, so that a secret cut in two is still one.
//! Not in it: what a secret is.

use super::{Redactor, mark, shapes, values};

/// How much without a newline is held before some of it is let go, in bytes.
const HELD: usize = 64 << 10;

/// What is held back then: more than any secret is long.
const TAIL: usize = 20 << 10;
const _: () = assert!(TAIL > shapes::LONGEST + shapes::BEFORE && TAIL > values::LONGEST);

/// Takes pieces and gives them on without their secrets, line by line. Memory is bounded.
#[derive(Debug)]
pub struct Stream<'a> {
    redactor: &'a Redactor,
    held: Vec<u8>,
    /// How much of what is held was given on already, and stays as what is before the rest.
    done: usize,
    /// Behind the last secret; what is recognised by a byte before this was a part of it.
    fresh: usize,
}

impl<'a> Stream<'a> {
    pub(super) const fn new(redactor: &'a Redactor) -> Self {
        Self {
            redactor,
            held: Vec::new(),
            done: 0,
            fresh: 0,
        }
    }

    /// Takes the next piece, and appends to `out` what can be given on.
    pub fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        for part in piece.chunks(HELD) {
            self.held.extend_from_slice(part);
            let fresh = self.held.len() - part.len();
            let limit = match part.iter().rposition(|b| *b == b'\n') {
                Some(newline) => fresh + newline + 1,
                None if self.held.len() - self.done >= HELD => self.held.len() - TAIL,
                None => continue,
            };
            self.give(limit, out);
        }
    }

    /// Appends the rest to `out`.
    pub fn finish(mut self, out: &mut Vec<u8>) {
        let end = self.held.len();
        self.scan(end, out, |_| false);
    }

    /// Gives on what is before `limit`, but for a secret that may still grow.
    fn give(&mut self, limit: usize, out: &mut Vec<u8>) {
        let end = self.held.len();
        self.scan(limit, out, |found_end| found_end == end);
        let passed = self.done.saturating_sub(shapes::BEFORE);
        self.held.drain(..passed);
        self.done -= passed;
        self.fresh = self.fresh.saturating_sub(passed);
    }

    /// Gives on what is before `limit`; stops before a secret that is `open` where it ends.
    fn scan(&mut self, limit: usize, out: &mut Vec<u8>, open: impl Fn(usize) -> bool) {
        let mut from = self.fresh.max(self.done.saturating_sub(shapes::BEFORE));
        while let Some(found) = self.redactor.find(&self.held, from) {
            let place = found.place;
            if place.start >= limit {
                break;
            }
            if place.start < self.done {
                from = place.start + 1;
                continue;
            }
            out.extend_from_slice(&self.held[self.done..place.start]);
            self.done = place.start;
            if open(place.end) {
                return;
            }
            mark(out, found.label);
            self.done = place.end;
            self.fresh = place.end;
            from = place.end;
        }
        if self.done < limit {
            out.extend_from_slice(&self.held[self.done..limit]);
            self.done = limit;
        }
    }
}
