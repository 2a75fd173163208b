//! Secrets are taken out by value and by shape, whole or in pieces; what only looks like one stays.

use std::borrow::Cow;
use std::ffi::OsString;

use backstop_runner::redact::Redactor;
use proptest::prelude::*;

const PEM: &str = "-----BEGIN RSA PRIVATE KEY-----
Proc-Type: 4,ENCRYPTED

MIIEpAIBAAKCAQEA7v3o+Zq1
c2VjcmV0IQ==
-----END RSA PRIVATE KEY-----";

fn environment() -> Redactor {
    let vars = [
        ("CLICKUP_API_KEY", "plainvalue-without-shape"),
        ("DB_PASSWORD", "p4ss \"word\" with/odd chars"),
        (
            "DEPLOY_TOKEN",
            "first-line-of-the-token\nsecond-line-of-the-token",
        ),
        ("SHORT_TOKEN", "short"),
        ("TOKEN_LIMIT", "1700000000000"),
        ("SSH_AUTH_SOCK", "/run/user/1000/agent"),
        ("EDITOR", "an-ordinary-editor"),
    ];
    Redactor::of_environment(vars.map(|(n, v)| (OsString::from(n), OsString::from(v))))
}

fn redact(text: &str) -> String {
    environment().redact(text).into_owned()
}

#[test]
fn well_known_shapes_are_redacted_with_their_kind() {
    let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U";
    let cases = [
        (
            "sk-ant-api03-abcdefghij0123456789_-AA",
            "[redacted: api key]",
        ),
        ("sk-proj-abcdefghij0123456789", "[redacted: api key]"),
        (
            "ghp_TESTTESTTESTTESTTESTTESTTESTTEST1234",
            "[redacted: github token]",
        ),
        ("ghp_TESTTESTTESTTEST", "[redacted: github token]"),
        (
            "github_pat_11AAAAAAA0aaaaaaaaaaaa_bbbb",
            "[redacted: github token]",
        ),
        ("AKIAIOSFODNN7EXAMPLE", "[redacted: aws key id]"),
        ("xoxb-123456789012-abcdef", "[redacted: slack token]"),
        (jwt, "[redacted: signed token]"),
        (
            "Authorization: Bearer abcDEF0123456789.x~y",
            "Authorization: Bearer [redacted: bearer token]",
        ),
        (
            "https://user:pa55@host/repo.git",
            "https://user:[redacted: url password]@host/repo.git",
        ),
        (PEM, "[redacted: private key]"),
        (
            "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "aws_secret_access_key = [redacted: assigned secret]",
        ),
        (
            "OTHER_API_KEY=pk_TEST",
            "OTHER_API_KEY=[redacted: assigned secret]",
        ),
        (
            r#"{"access_token": "Zm9vYmFyYmF6cXV1eDEyMw"}"#,
            r#"{"access_token": "[redacted: assigned secret]"}"#,
        ),
    ];
    for (text, wanted) in cases {
        assert_eq!(redact(text), wanted);
        let around = format!("before {text} after");
        assert_eq!(redact(&around), format!("before {wanted} after"));
        let in_json = serde_json::to_string(&format!("line\n{text}\nline")).unwrap();
        let clean = redact(&in_json);
        let read: String = serde_json::from_str(&clean).unwrap();
        assert_eq!(read, format!("line\n{wanted}\nline"));
    }
}

#[test]
fn a_printed_environment_is_redacted_by_value_and_by_shape() {
    let printed = "GITHUB_TOKEN=ghp_TESTTESTTESTTESTTESTTESTTESTTEST1234\0CLICKUP_API_KEY=pk_TEST\0HOME=/root";
    let clean = redact(printed);
    assert!(!clean.contains("TEST"), "{clean}");
    assert!(clean.ends_with("\0HOME=/root"), "{clean}");
    let clean = redact(&serde_json::to_string(printed).unwrap());
    assert!(!clean.contains("TEST"), "{clean}");
}

#[test]
fn a_known_value_is_redacted_wherever_it_is() {
    let named = "[redacted: CLICKUP_API_KEY]";
    assert_eq!(redact("xplainvalue-without-shapex"), format!("x{named}x"));
    let spellings = [
        "p4ss \"word\" with/odd chars",
        "p4ss \\\"word\\\" with/odd chars",
        "p4ss%20%22word%22%20with%2Fodd%20chars",
    ];
    for spelling in spellings {
        assert_eq!(redact(spelling), "[redacted: DB_PASSWORD]", "{spelling}");
    }
    let lines = "first-line-of-the-token\nand second-line-of-the-token";
    assert_eq!(
        redact(lines),
        "[redacted: DEPLOY_TOKEN]\nand [redacted: DEPLOY_TOKEN]"
    );
}

#[test]
fn overlapping_secrets_leave_nothing_of_either() {
    let redactor = Redactor::new()
        .with("A", b"abcdefgh")
        .with("B", b"efghijkl")
        .with("C", b"abcdefghi");
    assert_eq!(redactor.redact("abcdefghijkl."), "[redacted: B].");
    assert_eq!(redactor.redact("abcdefghi."), "[redacted: C].");
    let spaced = Redactor::new().with("P", b"part one and two");
    assert_eq!(
        spaced.redact("MY_TOKEN=part one and two;"),
        "MY_TOKEN=[redacted: P];"
    );
}

#[test]
fn what_is_no_secret_stays_and_is_not_copied() {
    let texts = [
        "short 1700000000000 /run/user/1000/agent an-ordinary-editor",
        "a task-oriented-description-of-2026-work, risk-assessment-of-something-1",
        "the sk-loading-indicator-animation class",
        "commit 2601c4b0d1e2f3a4b5c6d7e8f9a0b1c2d3e4f5a6",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "let token = parser.next_token(); let api_key = std::env::var(\"API_KEY\")?;",
        "MAX_TOKENS=4096000 \"input_tokens\": 123456789 API_KEY=$OTHER DB_PASSWORD=<your password>",
        r#"{"type":"thinking","signature":"EqQBCkYIBxgCKkBvYmZ1c2NhdGVkU2lnbmF0dXJlMTIzNDU2Nzg5MA=="}"#,
        "https://example.org:8080/a@b and git@github.com:owner/repo.git",
        "the bearer of bad news, bearer authentication",
        "eyJ.is.short and AKIA is a prefix; AKIAIOSFODNN7EXAMPLEXX is too long",
        "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkq\n-----END PUBLIC KEY-----",
        "-----BEGIN CERTIFICATE-----",
    ];
    for text in texts {
        assert!(
            matches!(environment().redact(text), Cow::Borrowed(_)),
            "{}",
            redact(text)
        );
    }
}

#[test]
fn a_key_block_without_its_end_takes_what_can_belong_to_it() {
    let cut = "log: -----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n(output was cut)";
    assert_eq!(redact(cut), "log: [redacted: private key](output was cut)");
}

#[test]
fn a_coloured_or_escaped_token_is_still_a_token() {
    let token = "sk-abcdefghij0123456789";
    for before in ["\u{1b}[31m", "\u{1b}[1;31m", "\\n", "\\t", "\"", "("] {
        let text = format!("{before}{token}");
        assert_eq!(redact(&text), format!("{before}[redacted: api key]"));
    }
}

fn streamed(redactor: &Redactor, pieces: &[&[u8]]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut stream = redactor.stream();
    for piece in pieces {
        stream.push(piece, &mut out);
    }
    stream.finish(&mut out);
    out
}

#[test]
fn a_token_split_over_two_pieces_is_redacted() {
    let clean = streamed(&environment(), &[b"ghp_TESTTEST", b"TESTTEST\nmore"]);
    assert_eq!(clean, b"[redacted: github token]\nmore");
}

#[test]
fn whole_lines_are_given_on_at_once() {
    let redactor = environment();
    let mut stream = redactor.stream();
    let mut out = Vec::new();
    stream.push(b"one\nsk-abcdefghij01234", &mut out);
    assert_eq!(out, b"one\n");
    stream.push(b"56789\n", &mut out);
    assert_eq!(out, b"one\n[redacted: api key]\n");
}

#[test]
fn a_long_line_is_given_on_in_part_and_hides_a_secret_at_any_place() {
    let secret = "ghp_TESTTESTTESTTEST";
    for before in [0, 40_000, 45_000, 65_500, 65_530, 65_536, 66_000, 131_060] {
        let text = format!(
            "{}{secret} {}",
            "x ".repeat(before / 2),
            "y ".repeat(50_000)
        );
        let clean = streamed(&environment(), &[text.as_bytes()]);
        assert_eq!(clean, redact(&text).into_bytes(), "{before}");
        assert!(!clean.windows(8).any(|w| w == b"TESTTEST"), "{before}");
    }
    let redactor = environment();
    let mut stream = redactor.stream();
    let mut out = Vec::new();
    stream.push(&b" ".repeat(200_000), &mut out);
    assert!(out.len() >= 200_000 - (64 << 10));
}

#[test]
fn no_text_is_redacted_otherwise_in_pieces() {
    for part in [
        "API_KEY=",
        "API_KEY=$",
        "sk-",
        "eyJ-",
        "ghp_",
        "://a:b@",
        "=",
        "a",
    ] {
        let text = part.repeat(80_000 / part.len());
        let pieces: Vec<_> = text.as_bytes().chunks(4096).collect();
        let clean = streamed(&environment(), &pieces);
        assert_eq!(clean, redact(&text).into_bytes(), "{part}");
    }
}

#[test]
fn a_word_that_is_cut_where_a_long_line_is_let_go_hides_no_secret_behind_it() {
    let word = format!("task-{}-ghp_TESTTESTTESTTEST ", "1".repeat(90));
    for before in 44_960..44_985 {
        let text = [" ".repeat(before), word.clone(), " ".repeat(30_000)].concat();
        let clean = streamed(&environment(), &[text.as_bytes()]);
        assert_eq!(clean, redact(&text).into_bytes(), "{before}");
    }
}

#[test]
fn bytes_that_are_not_utf_8_stay_as_they_are() {
    let clean = environment()
        .redact_bytes(b"\xff\xfe ghp_TESTTESTTESTTEST \xff")
        .into_owned();
    assert_eq!(clean, b"\xff\xfe [redacted: github token] \xff");
}

fn parts() -> impl Strategy<Value = Vec<String>> {
    let part = prop_oneof![
        Just(PEM.to_owned()),
        Just("ghp_TESTTESTTESTTEST".to_owned()),
        Just("p4ss \"word\" with/odd chars".to_owned()),
        Just("plainvalue-without-shape".to_owned()),
        Just("MY_TOKEN=".to_owned()),
        Just("https://u:secret99@h/".to_owned()),
        Just("api_key: 'aB3456789012345678901'".to_owned()),
        Just("\n".to_owned()),
        Just(" ".to_owned()),
        "[a-zA-Z0-9:=/@_. -]{0,12}",
        ".{0,6}",
    ];
    prop::collection::vec(part, 0..12)
}

fn texts() -> impl Strategy<Value = String> {
    parts().prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn pieces_are_redacted_as_the_whole_is(text in texts(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6)) {
        let redactor = environment();
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
        cuts.sort_unstable();
        let mut pieces = Vec::new();
        let mut from = 0;
        for cut in cuts.into_iter().chain([text.len()]) {
            pieces.push(&text.as_bytes()[from..cut]);
            from = cut;
        }
        let clean = streamed(&redactor, &pieces);
        prop_assert_eq!(String::from_utf8(clean).unwrap(), redactor.redact(&text).into_owned());
    }

    #[test]
    fn what_is_clean_stays_as_it_is(words in parts()) {
        let once = redact(&words.join(" "));
        prop_assert_eq!(redact(&once), once);
    }

    #[test]
    fn no_known_value_survives(before in ".{0,20}", after in ".{0,20}") {
        let clean = redact(&format!("{before}plainvalue-without-shape{after}"));
        prop_assert!(!clean.contains("plainvalue"));
    }
}
