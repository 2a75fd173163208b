//! Output as lines and as a file: whatever the bytes, whatever their number.
#![expect(
    clippy::unwrap_used,
    reason = "tests fail by panicking, also in what they share"
)]

use std::fs;

use backstop_runner::process::{Line, Lines, MOST_LINE, Spool, Spooled};
use proptest::prelude::*;

fn lines(most: usize, chunks: &[&[u8]]) -> Vec<Line> {
    let mut lines = Lines::new(most);
    let mut found = Vec::new();
    for chunk in chunks {
        lines.push(chunk, |line| found.push(line));
    }
    found.extend(lines.finish());
    found
}

fn whole(text: &str) -> Line {
    Line {
        text: text.to_owned(),
        cut: 0,
    }
}

#[test]
fn a_line_ends_where_it_ends_whatever_the_chunks() {
    let found = lines(100, &[b"a", b"b\nc\r", b"\n\n", b"d\re\r\r\n", b"f"]);
    assert_eq!(found, ["ab", "c", "", "d\re\r", "f"].map(whole));
    assert_eq!(lines(100, &[b"a\n"]), [whole("a")]);
    assert_eq!(lines(100, &[]), []);
}

#[test]
fn bytes_that_are_not_text_are_replaced_and_later_lines_are_whole() {
    let found = lines(
        100,
        &[
            b"{\"a\":1}\n\xff\xfe\x1f\x8b\x08\x00\n{\"type\"",
            b":\"result\"}\n",
        ],
    );
    let texts = [
        "{\"a\":1}",
        "\u{fffd}\u{fffd}\u{1f}\u{fffd}\u{8}\0",
        "{\"type\":\"result\"}",
    ];
    assert_eq!(found, texts.map(whole));
}

#[test]
fn a_character_torn_between_chunks_is_one_character() {
    let bytes = "Grüße, 世界 🦀\n".as_bytes();
    let torn: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(lines(100, &torn), [whole("Grüße, 世界 🦀")]);
}

#[test]
fn an_overlong_line_is_cut_and_marked_and_the_next_is_whole() {
    let cut = |text: &str, cut| Line {
        text: text.to_owned(),
        cut,
    };
    assert_eq!(
        lines(4, &[b"123", b"456\r\n", b"1234\n12"]),
        [cut("1234", 3), whole("1234"), whole("12")]
    );
    assert_eq!(lines(4, &[b"12345"]), [cut("1234", 1)]);
    assert_eq!(
        lines(4, &["12世\n".as_bytes()]),
        [cut("12", 3)],
        "no half characters"
    );
    assert_eq!(
        lines(4, &[b"12\xff\xff\xff\n"]),
        [cut("12\u{fffd}\u{fffd}", 1)]
    );
}

#[test]
fn a_line_of_seventy_megabytes_does_not_lose_the_result() {
    let mut lines = Lines::default();
    let mut found = Vec::new();
    for _ in 0..70 {
        lines.push(&vec![b'x'; 1 << 20], |line| found.push(line));
    }
    lines.push(b"\n{\"type\":\"result\"}\n", |line| found.push(line));
    assert_eq!((found[0].text.len(), found[0].cut), (MOST_LINE, 69 << 20));
    assert_eq!(found[1], whole("{\"type\":\"result\"}"));
}

fn spooled(most: u64, chunks: &[&[u8]]) -> (Spooled, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("transcript");
    let mut spool = Spool::create(&path, most).unwrap();
    for chunk in chunks {
        spool.write(chunk).unwrap();
    }
    let spooled = spool.finish().unwrap();
    assert_eq!(
        fs::read_dir(folder.path()).unwrap().count(),
        1,
        "nothing else is left"
    );
    (spooled, fs::read(&path).unwrap())
}

#[test]
fn what_fits_is_kept_as_it_is() {
    let (told, file) = spooled(10, &[b"0123", b"456789"]);
    assert_eq!(
        told,
        Spooled {
            total: 10,
            dropped: 0
        }
    );
    assert_eq!(file, b"0123456789");
}

#[test]
fn of_a_flood_head_and_tail_are_kept_and_the_cut_is_marked() {
    let (told, file) = spooled(10, &[b"0123456789", b"abc", b"defgh"]);
    assert_eq!(
        told,
        Spooled {
            total: 18,
            dropped: 8
        }
    );
    assert_eq!(file, b"01234\n[backstop: 8 bytes left out here]\ndefgh");
}

#[test]
fn a_spool_never_writes_over_a_file_and_is_the_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("transcript");
    let spool = Spool::create(&path, 10).unwrap();
    assert!(Spool::create(&path, 10).is_err());
    spool.finish().unwrap();
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
}

proptest! {
    #[test]
    fn chunks_do_not_change_the_lines(text in ".{0,60}\n?.{0,60}", most in 1_usize..40, step in 1_usize..9) {
        let chunks: Vec<&[u8]> = text.as_bytes().chunks(step).collect();
        prop_assert_eq!(lines(most, &chunks), lines(most, &[text.as_bytes()]));
    }

    #[test]
    fn no_line_is_longer_than_allowed_and_no_byte_is_unaccounted(bytes in prop::collection::vec(any::<u8>(), 0..200), most in 1_usize..40) {
        let ascii: Vec<u8> = bytes.iter().map(|byte| if *byte > 200 { b'\n' } else { byte & 0x3f | 0x20 }).collect();
        let found = lines(most, &[&ascii]);
        prop_assert!(found.iter().all(|line| line.text.len() <= most));
        let told: u64 = found.iter().map(|line| line.text.len() as u64 + line.cut).sum();
        prop_assert_eq!(told, ascii.iter().filter(|byte| **byte != b'\n').count() as u64);
    }

    #[test]
    fn a_spool_keeps_the_first_and_the_last_bytes(length in 0_usize..300, half in 1_usize..40, step in 1_usize..50) {
        let bytes: Vec<u8> = (0..length).map(|n| u8::try_from(n % 251).unwrap()).collect();
        let chunks: Vec<&[u8]> = bytes.chunks(step).collect();
        let (told, file) = spooled(2 * half as u64, &chunks);
        prop_assert_eq!(told.total, length as u64);
        if told.dropped == 0 {
            prop_assert_eq!(file, bytes);
        } else {
            prop_assert_eq!(told.dropped, (length - 2 * half) as u64);
            prop_assert!(file.starts_with(&bytes[..half]) && file.ends_with(&bytes[length - half..]));
        }
    }
}
