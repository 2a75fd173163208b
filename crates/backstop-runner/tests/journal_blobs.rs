//! Blobs are what they were, or an error; a spool keeps the two ends of any stream.
#![expect(
    clippy::unwrap_used,
    reason = "a test ends where what it expects does not hold"
)]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use backstop_engine::vocab::Digest;
use backstop_runner::blobs::{BlobError, Blobs, Kept, MOST};
use proptest::prelude::*;
use tempfile::TempDir;

fn blobs() -> (TempDir, Blobs) {
    let dir = tempfile::tempdir().unwrap();
    let blobs = Blobs::at(dir.path().to_owned());
    (dir, blobs)
}

fn names(dir: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(dir.path()).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

#[test]
fn a_blob_is_named_by_its_digest_and_kept_once() {
    let (dir, blobs) = blobs();
    for bytes in [&b""[..], b"transcript"] {
        let digest = blobs.put(bytes).unwrap();
        assert_eq!(digest, Digest::of(bytes));
        assert_eq!(blobs.put(bytes).unwrap(), digest);
        assert_eq!(blobs.read(&digest).unwrap(), bytes);
        let mode = fs::metadata(blobs.path(&digest).unwrap())
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let mut names = names(&dir);
    names.sort();
    let mut wanted = [Digest::of(b"").digits(), Digest::of(b"transcript").digits()];
    wanted.sort();
    assert_eq!(names, wanted);
}

#[test]
fn a_damaged_blob_is_never_read_and_is_mended_by_keeping_it_again() {
    let (_dir, blobs) = blobs();
    let digest = blobs.put(b"evidence").unwrap();
    let path = blobs.path(&digest).unwrap();
    for damaged in [&b""[..], b"evidencf", b"evidence\0"] {
        fs::write(&path, damaged).unwrap();
        let refused = blobs.read(&digest).unwrap_err();
        assert!(matches!(refused, BlobError::Damaged { .. }), "{refused}");
        assert_eq!(blobs.put(b"evidence").unwrap(), digest);
        assert_eq!(blobs.read(&digest).unwrap(), b"evidence");
    }
}

#[test]
fn a_symlink_is_no_blob_and_is_replaced_not_followed() {
    let (dir, blobs) = blobs();
    let digest = Digest::of(b"evidence");
    let elsewhere = dir.path().join("elsewhere");
    fs::write(&elsewhere, b"evidence").unwrap();
    symlink(&elsewhere, blobs.path(&digest).unwrap()).unwrap();
    let refused = blobs.read(&digest).unwrap_err();
    assert!(refused.to_string().contains("it is a symlink"), "{refused}");
    fs::write(&elsewhere, b"other").unwrap();
    blobs.put(b"evidence").unwrap();
    assert_eq!(blobs.read(&digest).unwrap(), b"evidence");
    assert_eq!(fs::read(&elsewhere).unwrap(), b"other");
}

#[test]
fn a_git_tree_is_not_looked_for_among_blobs() {
    let (_dir, blobs) = blobs();
    let tree = Digest::git_tree(&"a".repeat(40)).unwrap();
    assert!(matches!(blobs.read(&tree), Err(BlobError::NotABlob(_))));
}

#[test]
fn a_blob_that_cannot_be_written_leaves_nothing_behind() {
    let (dir, blobs) = blobs();
    let gone = Blobs::at(dir.path().join("gone"));
    assert!(matches!(gone.put(b"x"), Err(BlobError::Io { .. })));
    // A directory in the blob's place makes the last step fail.
    fs::create_dir_all(blobs.path(&Digest::of(b"x")).unwrap().join("full")).unwrap();
    assert!(matches!(blobs.put(b"x"), Err(BlobError::Io { .. })));
    assert_eq!(names(&dir).len(), 1);
}

#[test]
fn a_short_stream_is_kept_whole() {
    let (dir, blobs) = blobs();
    let mut spool = blobs.spool().unwrap();
    spool.write(b"one\n").unwrap();
    spool.write(b"two\n").unwrap();
    spool.flush().unwrap();
    assert_eq!(
        fs::read(spool.path()).unwrap(),
        b"one\ntwo\n",
        "visible while it grows"
    );
    let kept = spool.finish().unwrap();
    let digest = Digest::of(b"one\ntwo\n");
    assert_eq!(
        kept,
        Kept {
            digest,
            bytes: 8,
            cut: 0
        }
    );
    assert_eq!(blobs.read(&digest).unwrap(), b"one\ntwo\n");
    assert_eq!(names(&dir), [digest.digits()]);
}

#[test]
fn an_unfinished_spool_leaves_nothing_when_dropped() {
    let (dir, blobs) = blobs();
    let mut spool = blobs.spool_of(256).unwrap();
    spool.write(&[b'x'; 1_000]).unwrap();
    drop(spool);
    assert!(names(&dir).is_empty());
}

#[test]
fn what_a_killed_process_left_is_salvaged_and_half_written_blobs_go() {
    let (dir, blobs) = blobs();
    let kept_before = blobs.put(b"kept").unwrap();
    let mut spool = blobs.spool().unwrap();
    spool.write(b"said before the end").unwrap();
    spool.flush().unwrap();
    std::mem::forget(spool);
    std::mem::forget(blobs.spool().unwrap());
    fs::write(dir.path().join(".unfinished-put-1-1"), b"half").unwrap();
    let digest = Digest::of(b"said before the end");
    let salvaged = blobs.salvage().unwrap();
    assert_eq!(
        salvaged,
        [Kept {
            digest,
            bytes: 19,
            cut: 0
        }]
    );
    assert_eq!(names(&dir).len(), 2);
    assert!(blobs.read(&kept_before).is_ok() && blobs.read(&digest).is_ok());
    assert_eq!(blobs.salvage().unwrap(), []);
}

#[test]
fn an_attempt_keeps_at_most_64_mib() {
    assert_eq!(MOST, 67_108_864);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_spool_keeps_the_head_and_the_tail_of_any_stream(
        pieces in prop::collection::vec(0_usize..400, 0..12),
        most in 256_u64..700,
    ) {
        let (dir, blobs) = blobs();
        let stream: Vec<u8> = (b'a'..=b'w').cycle().take(pieces.iter().sum()).collect();
        let mut spool = blobs.spool_of(most).unwrap();
        let mut rest = stream.as_slice();
        for piece in pieces {
            let (now, later) = rest.split_at(piece);
            spool.write(now).unwrap();
            rest = later;
        }
        let kept = spool.finish().unwrap();
        let blob = blobs.read(&kept.digest).unwrap();
        prop_assert_eq!(blob.len() as u64, kept.bytes);
        prop_assert!(kept.bytes <= most);
        prop_assert_eq!(names(&dir).len(), 1);
        if kept.cut == 0 {
            prop_assert_eq!(&blob, &stream);
        } else {
            let mark = format!("\n[backstop: {} bytes are cut here]\n", kept.cut);
            let text = String::from_utf8(blob).unwrap();
            let (head, tail) = text.split_once(&mark).unwrap();
            prop_assert!(stream.starts_with(head.as_bytes()) && stream.ends_with(tail.as_bytes()));
            prop_assert_eq!(head.len() as u64, most / 2);
            prop_assert_eq!((head.len() + tail.len()) as u64 + kept.cut, stream.len() as u64);
        }
    }
}
