//! All chance of a run: numbers that a seed gives, and that are kept so that a run can be told again with less of it.

/// Where a run draws from. What is drawn past the end is 0, which is always the plainest choice.
#[derive(Debug, Clone)]
pub struct Tape {
    source: Source,
    drawn: Vec<u64>,
    calm: bool,
    aloud: bool,
}

#[derive(Debug, Clone)]
enum Source {
    Seed(u64),
    Kept(std::vec::IntoIter<u64>),
}

impl Tape {
    /// The tape of a seed: it has no end.
    #[must_use]
    pub const fn of(seed: u64) -> Self {
        Self::from(Source::Seed(seed))
    }

    /// A tape of these numbers.
    #[must_use]
    pub fn kept(numbers: Vec<u64>) -> Self {
        Self::from(Source::Kept(numbers.into_iter()))
    }

    const fn from(source: Source) -> Self {
        Self {
            source,
            drawn: Vec::new(),
            calm: false,
            aloud: false,
        }
    }

    /// The same, and the run tells its story.
    #[must_use]
    pub const fn aloud(mut self) -> Self {
        self.aloud = true;
        self
    }

    /// Whether the run tells its story.
    #[must_use]
    pub const fn is_aloud(&self) -> bool {
        self.aloud
    }

    /// A number below `n`; 0 where `n` is.
    pub fn below(&mut self, n: u64) -> u64 {
        if self.calm || n < 2 {
            return 0;
        }
        let number = match &mut self.source {
            Source::Seed(state) => split_mix(state) % n,
            Source::Kept(numbers) => numbers.next().unwrap_or(0).min(n - 1),
        };
        self.drawn.push(number);
        number
    }

    /// True once in `n` times; never for 0.
    pub fn once_in(&mut self, n: u64) -> bool {
        n > 0 && self.below(n) == n - 1
    }

    /// One of these.
    ///
    /// # Panics
    /// When there are none.
    pub fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        all.get(self.index(all.len())).expect("a choice of some")
    }

    /// An index below `n`.
    pub fn index(&mut self, n: usize) -> usize {
        let n = u64::try_from(n).unwrap_or(u64::MAX);
        usize::try_from(self.below(n)).unwrap_or(0)
    }

    /// From here on everything goes its plainest way.
    pub const fn calm(&mut self) {
        self.calm = true;
    }

    /// What was drawn so far.
    #[must_use]
    pub fn drawn(&self) -> &[u64] {
        &self.drawn
    }
}

/// `SplitMix64` (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators).
const fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = *state;
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
