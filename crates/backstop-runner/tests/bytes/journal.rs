//! What must hold of every file that is taken for a journal: it panics where its law does not hold.

use std::path::Path;

use backstop_runner::journal::{JournalError, Tail, Verified, verify_stream};

fn verify(bytes: &[u8]) -> Result<Verified, JournalError> {
    verify_stream(bytes, Path::new("journal.jsonl"))
}

/// A journal is refused, or its whole records are a journal by themselves, in which no byte can be another.
pub(crate) fn journal(bytes: &[u8]) {
    let Ok(found) = verify(bytes) else {
        return;
    };
    let whole = usize::try_from(found.bytes).expect("a length");
    let (records, rest) = bytes.split_at(whole);
    let lines = records.split(|byte| *byte == b'\n').count() - 1;
    assert_eq!(u64::try_from(lines).expect("a count"), found.records);
    match found.tail {
        Tail::None => assert!(rest.is_empty()),
        Tail::Record { offset } => assert_eq!((offset, rest.is_empty()), (found.bytes, false)),
        Tail::Torn { offset, bytes } => {
            assert_eq!((offset, bytes), (found.bytes, rest.len() as u64));
        }
    }
    if found.records > 0 {
        let alone = verify(records).expect("whole records are a journal");
        assert_eq!(
            alone,
            Verified {
                tail: Tail::None,
                ..found
            }
        );
        flipped(records, &found);
    }
}

/// One byte that is another is found, wherever it is: here in a few places that the length draws.
fn flipped(records: &[u8], found: &Verified) {
    let mut bytes = records.to_vec();
    for step in 1_usize..=8 {
        let at = step.wrapping_mul(0x9e37_79b9) % bytes.len();
        let bit = 1 << (step % 8);
        bytes[at] ^= bit;
        let same = |other: &Verified| (other.records, other.head) == (found.records, found.head);
        assert!(!verify(&bytes).is_ok_and(|other| same(&other)), "byte {at}");
        bytes[at] ^= bit;
    }
}
