//! The stream: one answer for each line that is not blank, whatever the line is.

use std::io::{BufRead as _, BufReader, Write as _};

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{code, decide, start};

const GOOD: &str = r#"{"op":"stage_next","stage":"define"}"#;
const NEXT: &str = r#"{"ok":{"next":"plan"}}"#;
const MIB: usize = 1024 * 1024;

/// What is wrong, and the code that says so.
const BAD: [(&str, &str); 34] = [
    ("not JSON", "not_json"),
    ("{", "not_json"),
    ("}", "not_json"),
    ("{\"op\":\"stage_next\",\"stage\":\"define\"", "not_json"),
    (
        "{\"op\":\"stage_next\",\"stage\":\"define\"} {}",
        "not_json",
    ),
    ("{\"op\":\"stage_next\",\"stage\":\"define\"},", "not_json"),
    ("{'op':'stage_next'}", "not_json"),
    ("{op:\"stage_next\"}", "not_json"),
    ("{\"op\":\"stage_next\",\"stage\":\"\\ud800\"}", "not_json"),
    ("{\"op\":\"mode_parse\",\"text\":\"\u{1}\"}", "not_json"),
    ("{\"op\":NaN}", "not_json"),
    ("\u{feff}{}", "not_json"),
    ("\u{a0}", "not_json"),
    ("null", "not_an_object"),
    ("true", "not_an_object"),
    ("7", "not_an_object"),
    ("\"stage_next\"", "not_an_object"),
    ("[\"stage_next\",\"define\"]", "not_an_object"),
    (
        "[{\"op\":\"stage_next\",\"stage\":\"define\"}]",
        "not_an_object",
    ),
    ("{}", "missing_op"),
    ("{\"Op\":\"stage_next\"}", "missing_op"),
    ("{\"op\":null}", "unknown_op"),
    ("{\"op\":[\"stage_next\"]}", "unknown_op"),
    ("{\"op\":\"Stage_Next\",\"stage\":\"define\"}", "unknown_op"),
    (
        "{\"op\":\"stage_next \",\"stage\":\"define\"}",
        "unknown_op",
    ),
    ("{\"op\":\"stage_next\"}", "bad_field"),
    ("{\"op\":\"stage_next\",\"stage\":null}", "bad_field"),
    ("{\"op\":\"stage_next\",\"stage\":\"Define\"}", "bad_field"),
    (
        "{\"op\":\"stage_next\",\"stage\":\"define\",\"Stage\":1}",
        "bad_field",
    ),
    (
        "{\"op\":\"progress\",\"earlier\":[{\"commits\":1,\"tree\":null,\"x\":0}],\"now\":{}}",
        "bad_field",
    ),
    (
        "{\"op\":\"progress\",\"earlier\":[],\"now\":{\"commits\":1.0,\"tree\":null}}",
        "bad_field",
    ),
    (
        "{\"op\":\"progress\",\"earlier\":[],\"now\":{\"commits\":-1,\"tree\":null}}",
        "bad_field",
    ),
    (
        "{\"op\":\"stage_next\",\"op\":\"stage_next\",\"stage\":\"define\"}",
        "duplicate_key",
    ),
    (
        "{\"op\":\"progress\",\"earlier\":[],\"now\":{\"commits\":1,\"commits\":2}}",
        "duplicate_key",
    ),
];

#[test]
fn a_bad_line_is_refused_and_the_stream_goes_on() {
    let lines: Vec<&str> = BAD.iter().flat_map(|(line, _)| [*line, GOOD]).collect();
    let answers = decide(lines.join("\n").into_bytes());
    assert_eq!(answers.len(), lines.len());
    for (pair, (line, wanted)) in answers.chunks(2).zip(BAD) {
        let refused: Value = serde_json::from_str(&pair[0]).unwrap();
        assert_eq!(code(&refused), wanted, "{line}");
        assert!(refused["refused"]["message"].is_string());
        assert_eq!(pair[1], NEXT, "after {line}");
    }
}

#[test]
fn a_message_starts_with_the_path_of_the_field() {
    let line = r#"{"op":"board","specs":[],"steps":[{"start":{"role":"scout"}},{"pass":{"gate":"g 1","verdict":""}}],"admit":{"role":"scout","digests":{}}}"#;
    let answer: Value = serde_json::from_str(&decide(line.into())[0]).unwrap();
    let words = answer["refused"]["message"].as_str().unwrap();
    assert!(
        words.starts_with("`steps[1].pass.gate`: gate id `g 1` contains"),
        "{words}"
    );
}

#[test]
fn a_number_that_is_no_count_is_refused_in_plain_words() {
    let counts = [
        (
            "-1",
            "invalid value: integer `-1`, expected a whole number from 0",
        ),
        (
            "1.5",
            "invalid type: floating point `1.5`, expected a whole number from 0",
        ),
        (
            "\"1\"",
            "invalid type: string \"1\", expected a whole number from 0",
        ),
    ];
    for (count, wanted) in counts {
        let line = format!(r#"{{"op":"progress","earlier":[],"now":{{"commits":{count}}}}}"#);
        let answer: Value = serde_json::from_str(&decide(line.into_bytes())[0]).unwrap();
        let words = answer["refused"]["message"].as_str().unwrap();
        assert_eq!(words, format!("`now.commits`: {wanted}"));
    }
}

#[test]
fn blank_lines_have_no_answer_and_the_last_line_needs_no_newline() {
    assert_eq!(decide(Vec::new()), [""; 0]);
    assert_eq!(decide(b"\n \r\n\t\n\n".to_vec()), [""; 0]);
    let input = format!("\n{GOOD}\r\n\n  {GOOD}  \n{GOOD}");
    assert_eq!(decide(input.into_bytes()), [NEXT; 3]);
}

#[test]
fn bytes_that_are_not_text_are_refused() {
    let mut input = b"\xff\xfe{}\n\0\n{\"op\":\"\xc3\x28\"}\n".to_vec();
    input.extend(GOOD.bytes());
    let answers = decide(input);
    assert_eq!(answers.len(), 4);
    assert!(
        answers[..3]
            .iter()
            .all(|answer| answer.contains("not_json"))
    );
    assert_eq!(answers[3], NEXT);
}

#[test]
fn deep_nesting_is_refused() {
    for open in ["[", "{\"a\":", "{\"op\":"] {
        let answers = decide(format!("{}\n{GOOD}", open.repeat(100_000)).into_bytes());
        assert!(answers[0].contains("not_json"), "{}", answers[0]);
        assert_eq!(answers[1], NEXT);
    }
}

fn padded(length: usize) -> String {
    let text = "x".repeat(length - r#"{"op":"stage_next","stage":""}"#.len());
    format!(r#"{{"op":"stage_next","stage":"{text}"}}"#)
}

#[test]
fn a_line_of_a_mebibyte_is_read_and_a_longer_one_is_not() {
    let lines = [
        padded(MIB),
        padded(MIB + 1),
        padded(3 * MIB),
        " ".repeat(MIB + 1),
    ];
    let answers = decide(format!("{}\n{GOOD}", lines.join("\n")).into_bytes());
    let wanted = ["bad_field", "too_long", "too_long", "too_long"];
    for (answer, wanted) in answers.iter().zip(wanted) {
        assert_eq!(code(&serde_json::from_str(answer).unwrap()), wanted);
        assert!(answer.len() < 8 * 1024, "values are shown cut");
    }
    assert_eq!(answers[4..], [NEXT]);
    let unended = decide(vec![b'['; MIB + 1]);
    assert_eq!(unended.len(), 1);
    assert!(unended[0].contains("too_long"));
}

/// The most memory that the process has had, in KiB.
#[cfg(target_os = "linux")]
fn peak(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.unwrap()
        .trim()
        .trim_end_matches(" kB")
        .parse()
        .unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn a_line_without_end_is_not_held_in_memory() {
    let mut child = start();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let block = vec![b'{'; MIB];
    for _ in 0..64 {
        stdin.write_all(&block).unwrap();
    }
    stdin.write_all(b"\n").unwrap();
    let mut answer = String::new();
    stdout.read_line(&mut answer).unwrap();
    assert!(answer.contains("too_long"));
    let peak = peak(child.id());
    assert!(peak < 32 * 1024, "{peak} KiB");
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn each_answer_comes_before_the_next_line_is_asked() {
    let mut child = start();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    for _ in 0..3 {
        writeln!(stdin, "{GOOD}").unwrap();
        let mut answer = String::new();
        stdout.read_line(&mut answer).unwrap();
        assert_eq!(answer, format!("{NEXT}\n"));
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn who_stops_listening_ends_it_quietly() {
    let mut child = start();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    // The pipe breaks at some line of these, or at none when the process is slow.
    let _ = (0..10_000).try_for_each(|_| writeln!(stdin, "{GOOD}"));
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}

/// Questions of the manual, with all that they hold.
fn known() -> impl Strategy<Value = String> {
    let page = include_str!("../../../../docs/policy-json.md");
    let questions = page.lines().filter(|line| line.starts_with("{\"op\":"));
    prop::sample::select(questions.map(str::to_owned).collect::<Vec<_>>())
}

/// A question with some bytes replaced, put in or taken out.
fn spoilt() -> impl Strategy<Value = Vec<u8>> {
    let edits = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3_u8), 1..4);
    (known(), edits).prop_map(|(question, edits)| {
        let mut bytes = question.into_bytes();
        for (place, byte, how) in edits {
            let place = place.index(bytes.len());
            match how {
                0 => bytes[place] = byte,
                1 => bytes.insert(place, byte),
                _ => bytes.truncate(place + 1),
            }
        }
        bytes
    })
}

/// A question with one value anywhere in it replaced by another.
fn twisted() -> impl Strategy<Value = Vec<u8>> {
    let odd = [
        json!(null),
        json!(-1),
        json!(1.5),
        json!(u64::MAX),
        json!(""),
        json!([]),
        json!({}),
        json!("x"),
    ];
    (
        known(),
        any::<prop::sample::Index>(),
        prop::sample::select(odd.to_vec()),
    )
        .prop_map(|(question, place, odd)| {
            let mut question: Value = serde_json::from_str(&question).unwrap_or_default();
            let mut pointers = Vec::new();
            walk(&question, String::new(), &mut pointers);
            let pointer = &pointers[place.index(pointers.len())];
            *question.pointer_mut(pointer).unwrap() = odd;
            question.to_string().into_bytes()
        })
}

fn walk(value: &Value, at: String, found: &mut Vec<String>) {
    if let Some(object) = value.as_object() {
        for (key, value) in object {
            walk(
                value,
                format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")),
                found,
            );
        }
    }
    if let Some(list) = value.as_array() {
        for (index, value) in list.iter().enumerate() {
            walk(value, format!("{at}/{index}"), found);
        }
    }
    found.push(at);
}

fn answers_line_by_line(lines: &[Vec<u8>]) -> Result<(), TestCaseError> {
    let input = lines.join(&b'\n');
    let asked = input
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.trim_ascii().is_empty());
    let asked = asked.count();
    let answers = decide(input);
    prop_assert_eq!(answers.len(), asked);
    for answer in answers {
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let object = answer.as_object().unwrap();
        prop_assert_eq!(object.len(), 1);
        prop_assert!(object.contains_key("ok") || object["refused"]["code"].is_string());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_bytes_have_one_answer_a_line(lines in prop::collection::vec(any::<Vec<u8>>(), 1..40)) {
        answers_line_by_line(&lines)?;
    }

    #[test]
    fn any_json_like_text_has_one_answer_a_line(
        lines in prop::collection::vec("[\\[\\]{}:,\"\\\\ opstage_nx0-9.eE+-]{0,60}", 1..40)
    ) {
        let lines: Vec<Vec<u8>> = lines.into_iter().map(String::into_bytes).collect();
        answers_line_by_line(&lines)?;
    }

    #[test]
    fn a_spoilt_question_has_one_answer(lines in prop::collection::vec(spoilt(), 1..60)) {
        answers_line_by_line(&lines)?;
    }

    #[test]
    fn a_twisted_question_has_one_answer(lines in prop::collection::vec(twisted(), 1..60)) {
        answers_line_by_line(&lines)?;
    }
}
