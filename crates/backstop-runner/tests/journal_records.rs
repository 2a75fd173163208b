//! What a journal keeps, and what it finds: every torn end, every flipped byte, every edit.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test ends where what it expects does not hold"
)]

use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::process::Command;

use backstop_engine::vocab::{Digest, Timestamp};
use backstop_runner::journal::{
    self, Durability, Fault, Healed, JournalError, LONGEST, Position, Record, Tail, Verified,
};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use tempfile::TempDir;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Event {
    Opened { goal: String },
    Spent(u64),
    Parked,
}

fn some_events() -> Vec<Event> {
    vec![
        Event::Opened {
            goal: "naïve \"goal\"\n".to_owned(),
        },
        Event::Spent(7),
        Event::Parked,
    ]
}

struct Scratch {
    _dir: TempDir,
    path: PathBuf,
}

impl Scratch {
    fn empty() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.jsonl");
        Self { _dir: dir, path }
    }

    fn with(bytes: &[u8]) -> Self {
        let scratch = Self::empty();
        fs::write(&scratch.path, bytes).unwrap();
        scratch
    }

    fn bytes(&self) -> Vec<u8> {
        fs::read(&self.path).unwrap()
    }
}

fn written<E: Serialize>(events: &[E]) -> Scratch {
    let scratch = Scratch::empty();
    let mut writer = journal::create(&scratch.path).unwrap();
    for (at, event) in (1_000..).zip(events) {
        let at = Timestamp::from_millis(at);
        writer.append(at, event, Durability::Ride).unwrap();
    }
    writer.sync().unwrap();
    scratch
}

/// Lines of `some_events`, newlines included.
fn some_lines() -> Vec<Vec<u8>> {
    let bytes = written(&some_events()).bytes();
    bytes
        .split_inclusive(|b| *b == b'\n')
        .map(<[u8]>::to_vec)
        .collect()
}

fn verify_bytes(bytes: &[u8]) -> Result<Verified, JournalError> {
    journal::verify_stream(Cursor::new(bytes), Path::new("bytes"))
}

fn open_all(path: &Path) -> Result<(Vec<Event>, journal::Writer, Healed), JournalError> {
    let mut replay = journal::open::<Event>(path)?;
    let events = replay.by_ref().map(|record| record.event).collect();
    let (writer, healed) = replay.into_writer()?;
    Ok((events, writer, healed))
}

fn fault(error: JournalError) -> (u64, u64, Fault) {
    let JournalError::Damaged { damage, .. } = error else {
        panic!("{error}")
    };
    (damage.offset, damage.seq.number(), damage.fault)
}

/// The record with the checksum and link that an editor who knows the format would give it.
fn forge(seq: u64, prev: &str, event: &str) -> Vec<u8> {
    let covered = format!(r#"{{"v":1,"seq":{seq},"at":1,"prev":"{prev}","event":{event}"#);
    seal(&covered)
}

fn seal(covered: &str) -> Vec<u8> {
    let crc = crc32fast::hash(covered.as_bytes());
    format!("{covered},\"crc\":\"{crc:08x}\"}}\n").into_bytes()
}

fn digits_of(line: &[u8]) -> String {
    Digest::of(line.strip_suffix(b"\n").unwrap()).digits()
}

#[test]
fn a_record_is_one_line_in_the_fixed_frame() {
    let line = String::from_utf8(some_lines()[1].clone()).unwrap();
    let prev = digits_of(&some_lines()[0]);
    let covered = format!(r#"{{"v":1,"seq":1,"at":1001,"prev":"{prev}","event":{{"spent":7}}"#);
    assert_eq!(line.into_bytes(), seal(&covered));
    assert!(
        some_lines()[0].starts_with(
            format!(
                r#"{{"v":1,"seq":0,"at":1000,"prev":"{}","event":"#,
                "0".repeat(64)
            )
            .as_bytes()
        )
    );
}

#[test]
fn appending_goes_on_where_the_journal_ended() {
    let scratch = written(&some_events());
    let (events, mut writer, healed) = open_all(&scratch.path).unwrap();
    assert_eq!((events, healed), (some_events(), Healed::Nothing));
    let at = Timestamp::from_millis(9);
    let seq = writer.append(at, &Event::Spent(8), Durability::Sync);
    assert_eq!(seq.unwrap().number(), 3);
    let verified = journal::verify(&scratch.path).unwrap();
    assert_eq!(verified.records, 4);
    assert_eq!(verified.bytes, scratch.bytes().len() as u64);
    assert_eq!(verified.head, writer.head());
    assert_eq!(verified.tail, Tail::None);
    assert_eq!(
        verified.head,
        Digest::of(
            scratch
                .bytes()
                .trim_ascii_end()
                .rsplit(|b| *b == b'\n')
                .next()
                .unwrap()
        )
    );
}

#[test]
fn a_torn_tail_at_any_byte_is_cut_and_loses_no_whole_record() {
    let bytes = written(&some_events()).bytes();
    for length in 0..=bytes.len() {
        let kept = &bytes[..length];
        let whole = kept.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
        let terminated = kept.split(|b| *b == b'\n').count() - 1;
        let lacks_newline = bytes.get(length) == Some(&b'\n');
        let records = terminated + usize::from(lacks_newline);

        let scratch = Scratch::with(kept);
        let opened = open_all(&scratch.path);
        if records == 0 {
            assert!(matches!(opened, Err(JournalError::Empty(_))), "{length}");
            assert_eq!(scratch.bytes(), kept, "left as it was");
            continue;
        }
        let (events, mut writer, healed) = opened.unwrap();
        assert_eq!(events, some_events()[..records], "{length}");
        let torn = (length - whole) as u64;
        assert_eq!(
            healed,
            match (lacks_newline, torn) {
                (true, _) => Healed::Newline,
                (false, 0) => Healed::Nothing,
                (false, bytes) => Healed::Cut { bytes },
            }
        );
        let at = Timestamp::from_millis(2_000);
        writer.append(at, &Event::Parked, Durability::Sync).unwrap();
        let verified = journal::verify(&scratch.path).unwrap();
        assert_eq!(verified.records, records as u64 + 1, "{length}");
    }
}

#[test]
fn verify_tells_a_torn_tail_from_a_record_that_lacks_its_newline() {
    let lines = some_lines();
    let (first, second) = (&lines[0], &lines[1]);
    let offset = first.len() as u64;
    let torn = [first.as_slice(), &second[..40]].concat();
    let verified = verify_bytes(&torn).unwrap();
    assert_eq!(verified.tail, Tail::Torn { offset, bytes: 40 });
    assert_eq!((verified.records, verified.bytes), (1, offset));
    let whole = [first.as_slice(), second.trim_ascii_end()].concat();
    assert_eq!(verify_bytes(&whole).unwrap().tail, Tail::Record { offset });
}

#[test]
fn every_value_of_every_byte_but_the_right_one_is_found() {
    let bytes = written(&[Event::Spent(7), Event::Parked]).bytes();
    let starts: Vec<_> = std::iter::once(0)
        .chain((1..bytes.len()).filter(|i| bytes[i - 1] == b'\n'))
        .collect();
    for place in 0..bytes.len() {
        let record = starts.iter().rposition(|start| *start <= place).unwrap();
        for flip in 1..=255 {
            let mut damaged = bytes.clone();
            damaged[place] ^= flip;
            let (offset, seq, _) = fault(verify_bytes(&damaged).unwrap_err());
            assert_eq!(
                (offset, seq),
                (starts[record] as u64, record as u64),
                "byte {place} flipped by {flip:#x}"
            );
        }
    }
}

#[test]
fn a_flipped_byte_is_refused_by_open_and_the_file_is_left_alone() {
    let bytes = written(&some_events()).bytes();
    for place in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[place] ^= 1;
        let scratch = Scratch::with(&damaged);
        let refused = open_all(&scratch.path).map(drop).unwrap_err();
        assert!(matches!(refused, JournalError::Damaged { .. }), "{refused}");
        assert_eq!(scratch.bytes(), damaged);
    }
}

#[test]
fn a_byte_flipped_in_an_unterminated_tail_is_torn_or_damage_never_a_record() {
    let lines = some_lines();
    let whole = [lines[0].as_slice(), lines[1].trim_ascii_end()].concat();
    for place in lines[0].len()..whole.len() {
        let mut damaged = whole.clone();
        damaged[place] ^= 2;
        match verify_bytes(&damaged) {
            Ok(verified) => assert!(matches!(verified.tail, Tail::Torn { .. }), "{place}"),
            Err(refused) => assert_eq!(fault(refused).1, 1, "{place}"),
        }
    }
}

#[test]
fn the_last_newline_overwritten_is_damage_and_not_a_torn_write() {
    let mut bytes = written(&some_events()).bytes();
    *bytes.last_mut().unwrap() = b'x';
    assert_eq!(fault(verify_bytes(&bytes).unwrap_err()).2, Fault::Newline);
    let scratch = Scratch::with(&bytes);
    let refused = open_all(&scratch.path).map(drop).unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("the newline after it was overwritten"),
        "{refused}"
    );
    assert_eq!(scratch.bytes(), bytes);
}

#[test]
fn a_terminated_damaged_record_is_refused_even_as_the_last() {
    let lines = some_lines();
    let torn = [lines[0].as_slice(), &lines[1][..50], b"\n"].concat();
    let scratch = Scratch::with(&torn);
    let (offset, seq, _) = fault(open_all(&scratch.path).map(drop).unwrap_err());
    assert_eq!((offset, seq), (lines[0].len() as u64, 1));
    assert_eq!(scratch.bytes(), torn);
}

#[test]
fn removed_doubled_and_moved_records_are_found() {
    let [a, b, c] = some_lines().try_into().unwrap();
    let cases = [
        ([&a, &c, &b], Fault::Sequence { found: 2 }, 1),
        ([&a, &a, &b], Fault::Sequence { found: 0 }, 1),
        ([&b, &b, &c], Fault::Sequence { found: 1 }, 0),
    ];
    for (lines, wanted, at) in cases {
        let bytes = lines.map(Vec::as_slice).concat();
        let (_, seq, found) = fault(verify_bytes(&bytes).unwrap_err());
        assert_eq!((found, seq), (wanted, at));
    }
}

#[test]
fn an_edit_that_mends_its_checksum_breaks_the_chain() {
    let [a, b, c] = some_lines().try_into().unwrap();
    let edited = forge(1, &digits_of(&a), r#"{"spent":1}"#);
    let bytes = [a.as_slice(), &edited, &c].concat();
    let (offset, seq, found) = fault(verify_bytes(&bytes).unwrap_err());
    assert_eq!((found, seq), (Fault::Chain, 2));
    assert_eq!(offset, (a.len() + edited.len()) as u64);
    assert_ne!(b, edited);
}

#[test]
fn a_record_has_one_spelling() {
    let zeroes = "0".repeat(64);
    let sound = format!(r#"{{"v":1,"seq":0,"at":1,"prev":"{zeroes}","event":"parked""#);
    assert_eq!(verify_bytes(&seal(&sound)).unwrap().records, 1);
    let others = [
        sound.replace(r#""v":1"#, r#""v":01"#),
        sound.replace(r#""v":1,"#, r#""v":1, "#),
        sound.replace(r#""seq":0"#, r#""seq":00"#),
        sound.replace(r#""seq":0"#, r#""seq":-0"#),
        sound.replace(r#""at":1"#, r#""at":1.0"#),
        sound.replace(r#""at":1"#, r#""at":18446744073709551616"#),
        sound.replace(r#""seq":0,"at":1"#, r#""at":1,"seq":0"#),
        sound.replace(r#""event":"#, r#""event": "#),
        format!("{sound} "),
        format!(r#"{sound},"more":1"#),
        sound.replace(&zeroes, &"0".repeat(63)),
        sound.replace(&zeroes, &"G".repeat(64)),
        sound.replace(r#""parked""#, ""),
        sound.replace(r#""parked""#, "parked"),
    ];
    for other in others {
        let (.., found) = fault(verify_bytes(&seal(&other)).unwrap_err());
        assert!(
            matches!(found, Fault::Frame | Fault::Json(_)),
            "{other}: {found}"
        );
    }
    let upper = seal(&sound).to_ascii_uppercase();
    assert_eq!(fault(verify_bytes(&upper).unwrap_err()).2, Fault::Frame);
}

#[test]
fn a_record_of_a_newer_format_is_refused_and_never_cut() {
    let first = &some_lines()[0];
    let newer = seal(r#"{"v":2,"anything":true"#);
    for tail in [newer.as_slice(), newer.trim_ascii_end()] {
        let bytes = [first.as_slice(), tail].concat();
        let scratch = Scratch::with(&bytes);
        let (.., found) = fault(open_all(&scratch.path).map(drop).unwrap_err());
        assert_eq!(found, Fault::Version(2));
        assert_eq!(scratch.bytes(), bytes);
    }
}

#[test]
fn an_unterminated_record_of_another_chain_is_damage() {
    let first = &some_lines()[0];
    let foreign = forge(1, &"1".repeat(64), r#""parked""#);
    let bytes = [first.as_slice(), foreign.trim_ascii_end()].concat();
    assert_eq!(fault(verify_bytes(&bytes).unwrap_err()).2, Fault::Chain);
}

#[test]
fn an_empty_journal_is_never_a_fresh_start() {
    for bytes in [&b""[..], b"{\"v\":1,\"se", &[0; 10], &[0; 5000]] {
        let scratch = Scratch::with(bytes);
        let refused = open_all(&scratch.path).map(drop).unwrap_err();
        assert!(matches!(refused, JournalError::Empty(_)), "{refused}");
        assert!(refused.to_string().contains("restore it from a copy"));
        assert!(matches!(verify_bytes(bytes), Err(JournalError::Empty(_))));
        assert_eq!(scratch.bytes(), bytes, "the bad file is kept");
        let again = journal::create(&scratch.path).unwrap_err();
        assert!(matches!(again, JournalError::Exists(_)), "{again}");
    }
}

#[test]
fn nul_bytes_in_place_of_a_record_are_refused() {
    let [a, b, c] = some_lines().try_into().unwrap();
    let nulled = [a.as_slice(), &vec![0; b.len()], &c].concat();
    assert_eq!(fault(verify_bytes(&nulled).unwrap_err()).1, 1);
    let line_of_nul = [a.as_slice(), &[0; 20], b"\n"].concat();
    assert_eq!(fault(verify_bytes(&line_of_nul).unwrap_err()).1, 1);
}

#[test]
fn a_line_longer_than_any_record_is_refused_without_reading_it_all() {
    let endless = std::io::Read::take(std::io::repeat(b'x'), 1 << 40);
    let input = std::io::BufReader::new(endless);
    let refused = journal::verify_stream(input, Path::new("endless")).unwrap_err();
    assert_eq!(fault(refused).2, Fault::TooLong);
}

#[test]
fn the_longest_record_is_written_and_read() {
    let frame = written(&[""]).bytes().len() - 1;
    let longest = "x".repeat(LONGEST - frame);
    let scratch = written(std::slice::from_ref(&longest));
    assert_eq!(scratch.bytes().len(), LONGEST + 1);
    let mut records = journal::read::<String>(&scratch.path).unwrap();
    assert_eq!(records.next().unwrap().unwrap().event, longest);
    assert_eq!(journal::verify(&scratch.path).unwrap().records, 1);
}

#[test]
fn a_sound_record_with_an_unknown_event_is_not_called_damaged() {
    let scratch = written(&["later_kind"]);
    let refused = open_all(&scratch.path).map(drop).unwrap_err();
    assert!(matches!(refused, JournalError::Event { .. }), "{refused}");
    assert!(refused.to_string().contains("later_kind"), "{refused}");
    assert!(journal::verify(&scratch.path).is_ok());
}

#[test]
fn a_writer_is_had_only_behind_a_journal_that_holds() {
    let lines = some_lines();
    let mut bytes = lines.concat();
    bytes[lines[0].len() + 10] ^= 1;
    let scratch = Scratch::with(&bytes);
    for taken in 0..=2 {
        let mut replay = journal::open::<Event>(&scratch.path).unwrap();
        assert_eq!(replay.by_ref().take(taken).count(), taken.min(1));
        assert_eq!(fault(replay.into_writer().unwrap_err()).1, 1);
    }
}

#[test]
fn records_that_were_not_taken_are_checked_before_the_writer_is_given() {
    let scratch = written(&some_events());
    let replay = journal::open::<Event>(&scratch.path).unwrap();
    let (writer, _) = replay.into_writer().unwrap();
    assert_eq!(writer.next().number(), 3);
}

#[test]
fn a_reader_follows_the_writer_and_stops_before_what_is_not_terminated() {
    let scratch = Scratch::empty();
    let mut writer = journal::create(&scratch.path).unwrap();
    let mut reader = journal::read::<Event>(&scratch.path).unwrap();
    assert!(reader.next().is_none());
    for (n, event) in (0..).zip(some_events()) {
        let at = Timestamp::from_millis(n);
        let seq = writer.append(at, &event, Durability::Ride).unwrap();
        assert_eq!(reader.next().unwrap().unwrap(), Record { seq, at, event });
        assert!(reader.next().is_none());
    }
    let line = forge(3, &writer.head().digits(), r#"{"spent":9}"#);
    let (begun, rest) = line.split_at(100);
    append_raw(&scratch.path, begun);
    assert!(reader.next().is_none());
    append_raw(&scratch.path, &rest[..rest.len() - 1]);
    assert!(reader.next().is_none());
    append_raw(&scratch.path, b"\n");
    assert_eq!(reader.next().unwrap().unwrap().event, Event::Spent(9));
}

fn append_raw(path: &Path, bytes: &[u8]) {
    use std::io::Write as _;
    let mut file = fs::File::options().append(true).open(path).unwrap();
    file.write_all(bytes).unwrap();
}

#[test]
fn a_reader_continues_from_a_position_and_holds_what_follows_against_it() {
    let scratch = written(&some_events());
    let mut reader = journal::read::<Event>(&scratch.path).unwrap();
    reader.next().unwrap().unwrap();
    let behind_first = reader.position();
    assert_eq!(behind_first.offset(), some_lines()[0].len() as u64);
    assert_eq!(behind_first.seq().number(), 1);
    let rest: Result<Vec<_>, _> = journal::read_from::<Event>(&scratch.path, behind_first)
        .unwrap()
        .map(|r| r.map(|r| r.event))
        .collect();
    assert_eq!(rest.unwrap(), some_events()[1..]);

    let other = written(&[Event::Parked, Event::Parked]);
    let refused = journal::read_from::<Event>(&other.path, behind_first).map(drop);
    let first = refused.and_then(|()| {
        let mut reader = journal::read_from::<Event>(&other.path, behind_first)?;
        reader.next().unwrap().map(drop)
    });
    assert!(first.is_err());
    let empty = Scratch::with(b"");
    let refused = journal::read_from::<Event>(&empty.path, behind_first).unwrap_err();
    assert_eq!(fault(refused).2, Fault::Shrunk);
    assert_eq!(Position::START.seq().number(), 0);
}

#[test]
fn a_reader_reports_damage_once_with_its_place_and_ends() {
    let lines = some_lines();
    let mut bytes = lines.concat();
    let place = lines[0].len() + 9;
    bytes[place] ^= 4;
    let scratch = Scratch::with(&bytes);
    let mut reader = journal::read::<Event>(&scratch.path).unwrap();
    assert!(reader.next().unwrap().is_ok());
    let (offset, seq, _) = fault(reader.next().unwrap().unwrap_err());
    assert_eq!((offset, seq), (lines[0].len() as u64, 1));
    assert!(reader.next().is_none());
}

#[test]
fn the_events_of_a_journal_can_be_read_as_their_own_bytes() {
    let scratch = written(&some_events());
    let records = journal::read::<Box<RawValue>>(&scratch.path).unwrap();
    let texts: Vec<_> = records.map(|r| r.unwrap().event.get().to_owned()).collect();
    assert_eq!(texts[1..], [r#"{"spent":7}"#, r#""parked""#]);
}

/// The journal that every version must read for ever, and the worked example of `docs/journal.md`.
const GOLDEN: &[u8] = include_bytes!("golden/journal_v1.jsonl");

#[test]
fn the_golden_journal_of_version_1_reads_and_is_written_the_same_again() {
    let verified = verify_bytes(GOLDEN).unwrap();
    assert_eq!((verified.records, verified.tail), (3, Tail::None));
    let scratch = Scratch::with(GOLDEN);
    let again = Scratch::empty();
    let mut writer = journal::create(&again.path).unwrap();
    for record in journal::read::<Box<RawValue>>(&scratch.path).unwrap() {
        let record = record.unwrap();
        let seq = writer.append(record.at, &record.event, Durability::Ride);
        assert_eq!(seq.unwrap(), record.seq);
    }
    assert_eq!(again.bytes(), GOLDEN);
}

#[test]
fn the_documented_example_is_the_golden_journal() {
    let docs = include_str!("../../../docs/journal.md");
    let golden = std::str::from_utf8(GOLDEN).unwrap();
    assert!(docs.contains(&format!("```json\n{golden}```\n")));
    let head = verify_bytes(GOLDEN).unwrap().head.digits();
    assert!(docs.contains(&head), "{head}");
}

#[test]
fn the_documented_check_works_with_standard_tools() {
    let docs = include_str!("../../../docs/journal.md");
    let (_, script) = docs.split_once("```sh\n").unwrap();
    let (script, _) = script.split_once("```").unwrap();
    let check = |journal: &Scratch| {
        let input = fs::File::open(&journal.path).unwrap();
        let output = Command::new("sh")
            .args(["-c", script])
            .stdin(input)
            .output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    let head = verify_bytes(GOLDEN).unwrap().head.digits();
    assert_eq!(
        check(&Scratch::with(GOLDEN)),
        format!("3 records, head {head}\n")
    );
    let mut edited = GOLDEN.to_vec();
    edited[300] ^= 1;
    assert_eq!(check(&Scratch::with(&edited)), "record 1 is damaged\n");
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_events_come_back_as_they_were(events in prop::collection::vec((any::<u64>(), values()), 1..8)) {
        let scratch = Scratch::empty();
        let mut writer = journal::create(&scratch.path).unwrap();
        for (at, event) in &events {
            writer.append(Timestamp::from_millis(*at), event, Durability::Ride).unwrap();
        }
        let read: Vec<_> = journal::read::<Value>(&scratch.path)
            .unwrap()
            .map(|r| r.map(|r| (r.at.as_millis(), r.event)).unwrap())
            .collect();
        prop_assert_eq!(read, events);
        prop_assert_eq!(journal::verify(&scratch.path).unwrap().head, writer.head());
    }

    #[test]
    fn any_bytes_are_judged_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = verify_bytes(&bytes);
        let after = [some_lines().concat(), bytes].concat();
        let _ = verify_bytes(&after);
    }
}
