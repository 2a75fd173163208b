//! The bodies of the fuzzers on inputs that are drawn: any bytes, and bytes near what is read.
#![expect(
    clippy::expect_used,
    reason = "tests fail by panicking, also in what they share"
)]

mod config;
mod journal;

use proptest::prelude::*;
use proptest::sample::{Index, select};

const JOURNAL: &str = include_str!("../golden/journal_v1.jsonl");
const GUIDE: &str = include_str!("../../../../docs/guide.md");

/// The file of the guide, with every key.
fn every_key() -> &'static str {
    let blocks = GUIDE.split("```toml\n").skip(1);
    let mut files = blocks.filter_map(|block| block.split("```").next());
    let found = files.find(|file| file.starts_with("mode ="));
    found.expect("the guide shows a file")
}

/// `text` with a few of its bytes replaced, taken out or put in.
fn near(texts: Vec<&'static str>) -> impl Strategy<Value = Vec<u8>> {
    let change = (
        any::<Index>(),
        0_usize..4,
        prop::collection::vec(any::<u8>(), 0..3),
    );
    (select(texts), prop::collection::vec(change, 0..4)).prop_map(|(text, changes)| {
        let mut bytes = text.as_bytes().to_vec();
        for (at, cut, put) in changes {
            let from = at.index(bytes.len() + 1);
            bytes.splice(from..bytes.len().min(from + cut), put);
        }
        bytes
    })
}

/// Tables of the configuration, each of which can stand alone.
fn tables() -> Vec<&'static str> {
    every_key().split("\n\n").collect()
}

#[test]
fn what_the_drawn_ones_are_near_fits() {
    let path = std::path::Path::new("x");
    backstop_runner::journal::verify_stream(JOURNAL.as_bytes(), path).expect("a journal");
    backstop_runner::config::parse(path, every_key()).expect("a configuration");
}

proptest! {
    #[test]
    fn any_file_is_a_journal_or_refused(bytes in prop_oneof![
        near(vec![JOURNAL]),
        prop::collection::vec(any::<u8>(), 0..200),
    ]) {
        journal::journal(&bytes);
    }

    #[test]
    fn any_file_is_a_configuration_or_refused(bytes in prop_oneof![
        near(tables()),
        near(vec![every_key()]),
        prop::collection::vec(any::<u8>(), 0..200),
    ]) {
        config::config(&bytes);
    }
}
