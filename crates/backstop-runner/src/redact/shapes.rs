//! Secrets that are known by shape, each recognised by one byte and what is around it. What has to be read
//! to recognise one is bounded, so that no text is slow. Not in it: known values.

use std::ops::Range;

/// How far the beginning of a token is looked at to tell it from a word, in bytes.
const LOOK: usize = 200;

/// How far the second part of a signed token may lie, in bytes.
const HEADER: usize = 512;

/// The longest name before `=`, in bytes.
const NAME: usize = 64;

/// The longest token or key block, in bytes.
pub(super) const LONGEST: usize = 16 << 10;

/// How far before a secret the text is looked at to recognise it, in bytes.
pub(super) const BEFORE: usize = NAME + 16;

type Place = Range<usize>;
type Shape = (Place, &'static str);

/// The secret that the byte at `i` gives away; it may begin behind it.
pub(super) fn at(text: &[u8], i: usize) -> Option<Shape> {
    match text.get(i)? {
        b'=' => assigned(text, i),
        b':' => url_password(text, i).or_else(|| assigned(text, i)),
        b'-' => key_block(text, i),
        b'B' | b'b' => bearer(text, i),
        b'e' => signed_token(text, i),
        b'A' | b'a'..=b'z' => prefixed(text, i),
        _ => None,
    }
}

/// A token that begins with the mark of who issues it.
struct Prefix {
    text: &'static [u8],
    /// The fewest characters behind the prefix.
    least: usize,
    /// What else must hold for the characters behind it.
    rule: Rule,
    label: &'static str,
}

#[derive(Clone, Copy)]
enum Rule {
    /// Letters, digits, `_` and `-`, whatever is before the prefix, since no word ends like it.
    Anywhere,
    /// The same, at the beginning of a word.
    Any,
    /// The same, with a digit among the first, since words can be hyphenated.
    Digit,
    /// Exactly so many capital letters and digits, at the beginning of a word.
    Capitals,
}

const fn prefix(text: &'static [u8], least: usize, rule: Rule, label: &'static str) -> Prefix {
    Prefix {
        text,
        least,
        rule,
        label,
    }
}

const PREFIXES: [Prefix; 29] = [
    prefix(b"sk-", 20, Rule::Digit, "api key"),
    prefix(b"sk_live_", 10, Rule::Anywhere, "stripe key"),
    prefix(b"sk_test_", 10, Rule::Anywhere, "stripe key"),
    prefix(b"rk_live_", 10, Rule::Anywhere, "stripe key"),
    prefix(b"whsec_", 16, Rule::Anywhere, "webhook secret"),
    prefix(b"ghp_", 16, Rule::Anywhere, "github token"),
    prefix(b"gho_", 16, Rule::Anywhere, "github token"),
    prefix(b"ghu_", 16, Rule::Anywhere, "github token"),
    prefix(b"ghs_", 16, Rule::Anywhere, "github token"),
    prefix(b"ghr_", 16, Rule::Anywhere, "github token"),
    prefix(b"github_pat_", 16, Rule::Anywhere, "github token"),
    prefix(b"glpat-", 16, Rule::Anywhere, "gitlab token"),
    prefix(b"AKIA", 16, Rule::Capitals, "aws key id"),
    prefix(b"ASIA", 16, Rule::Capitals, "aws key id"),
    prefix(b"AIza", 35, Rule::Any, "google key"),
    prefix(b"ya29", 20, Rule::Digit, "google token"),
    prefix(b"xoxa-", 10, Rule::Anywhere, "slack token"),
    prefix(b"xoxb-", 10, Rule::Anywhere, "slack token"),
    prefix(b"xoxe-", 10, Rule::Anywhere, "slack token"),
    prefix(b"xoxp-", 10, Rule::Anywhere, "slack token"),
    prefix(b"xoxr-", 10, Rule::Anywhere, "slack token"),
    prefix(b"xoxs-", 10, Rule::Anywhere, "slack token"),
    prefix(b"xapp-", 10, Rule::Digit, "slack token"),
    prefix(b"npm_", 30, Rule::Digit, "npm token"),
    prefix(b"pypi-", 30, Rule::Digit, "pypi token"),
    prefix(b"hf_", 30, Rule::Any, "hugging face token"),
    prefix(b"dop_v1_", 30, Rule::Anywhere, "digitalocean token"),
    prefix(b"shpat_", 20, Rule::Anywhere, "shopify token"),
    prefix(b"lin_api_", 20, Rule::Anywhere, "linear key"),
];

fn prefixed(text: &[u8], i: usize) -> Option<Shape> {
    let rest = &text[i..];
    let known = PREFIXES
        .iter()
        .find(|p| p.text[0] == rest[0] && rest.starts_with(p.text))?;
    let begin = i + known.text.len();
    let placed = matches!(known.rule, Rule::Anywhere) || begins_a_word(text, i);
    let fits = placed && known.holds(&text[begin..]);
    fits.then(|| (i..run(text, begin, is_word), known.label))
}

impl Prefix {
    fn holds(&self, behind: &[u8]) -> bool {
        let seen = &behind[..ahead(behind, 0, LOOK, is_word)];
        seen.len() >= self.least
            && match self.rule {
                Rule::Anywhere | Rule::Any => true,
                Rule::Digit => seen.iter().any(u8::is_ascii_digit),
                Rule::Capitals => {
                    let capital = |b: &u8| b.is_ascii_uppercase() || b.is_ascii_digit();
                    seen.len() == self.least && seen.iter().all(capital)
                }
            }
    }
}

/// `eyJ….eyJ….…`: a JSON web token, signed or encrypted.
fn signed_token(text: &[u8], i: usize) -> Option<Shape> {
    let rest = &text[i..];
    if !rest.starts_with(b"eyJ") || !begins_a_word(text, i) {
        return None;
    }
    let header = ahead(rest, 0, HEADER, is_word);
    let second = rest.get(header + 1..)?;
    let two = header >= 10 && rest[header] == b'.' && is_word(*second.first()?);
    let part = |b| is_word(b) || b == b'.';
    // A file name or a member access is not that long.
    let holds = two && ahead(rest, 0, 40, part) == 40;
    holds.then(|| (i..run(text, i, part), "signed token"))
}

/// `Bearer …` in a header.
fn bearer(text: &[u8], i: usize) -> Option<Shape> {
    let word = text.get(i..i + 6)?;
    if !word.eq_ignore_ascii_case(b"bearer") || !begins_a_word(text, i) {
        return None;
    }
    let begin = ahead(text, i + 6, 4, |b| b == b' ');
    let seen = &text[begin..ahead(text, begin, LOOK, is_header)];
    let telling = |b: &u8| b.is_ascii_digit() || b.is_ascii_uppercase();
    let holds = begin > i + 6 && seen.len() >= 16 && seen.iter().any(telling);
    holds.then(|| (begin..run(text, begin, is_header), "bearer token"))
}

/// `-----BEGIN … PRIVATE KEY-----` and what belongs to it; the end may be missing.
fn key_block(text: &[u8], i: usize) -> Option<Shape> {
    const BEGIN: &[u8] = b"-----BEGIN ";
    const END: &[u8] = b"-----END ";
    let title = text[i..].strip_prefix(BEGIN)?;
    let title = &title[..title.len().min(NAME)];
    let length = find(title, b"-----")?;
    find(&title[..length], b"PRIVATE KEY")?;
    let body = i + BEGIN.len() + length + 5;
    let end = run(text, body, is_key_block);
    let closed = find(&text[body..end], END).map(|at| body + at + END.len());
    let end = match closed {
        Some(title) => {
            let rest = &text[title..text.len().min(title + NAME)];
            find(rest, b"-----").map_or(end, |at| title + at + 5)
        }
        None => end,
    };
    Some((i..end, "private key"))
}

/// `scheme://user:password@host`; `i` is at the colon of the scheme.
fn url_password(text: &[u8], i: usize) -> Option<Shape> {
    let rest = text[i..].strip_prefix(b"://")?;
    let rest = &rest[..rest.len().min(HEADER)];
    let ends =
        |b: &u8| b.is_ascii_whitespace() || b.is_ascii_control() || b"/\\?#\"'`<>".contains(b);
    let authority = &rest[..rest.iter().position(ends).unwrap_or(rest.len())];
    let at = authority.iter().rposition(|b| *b == b'@')?;
    let colon = authority[..at].iter().position(|b| *b == b':')?;
    let password = &authority[colon + 1..at];
    let begin = i + 3 + colon + 1;
    is_literal(password).then_some((begin..begin + password.len(), "url password"))
}

/// `NAME=value` as in an environment, or `name = value`, `"name": "value"` where the value looks random.
fn assigned(text: &[u8], i: usize) -> Option<Shape> {
    let quote = |b: u8| matches!(b, b'"' | b'\'' | b'\\' | b' ');
    let before = i - count_back(text, i, 4, quote);
    let start = before - count_back(text, before, NAME, |b| is_word(b) || b == b'.');
    let name = &text[start..before];
    if !names_a_secret(name) {
        return None;
    }
    if text[i] == b'=' && before == i && shouted(text, i) {
        return exported(text, i + 1);
    }
    let begin = ahead(text, i + 1, 6, quote);
    let seen = &text[begin..ahead(text, begin, LOOK, is_base64)];
    let random = seen.len() >= 20
        && seen.iter().any(u8::is_ascii_digit)
        && seen.iter().any(u8::is_ascii_uppercase)
        && seen.iter().any(u8::is_ascii_lowercase);
    random.then(|| (begin..run(text, begin, is_base64), "assigned secret"))
}

/// Whether the name that ends at `end` is all capitals, as those of variables are.
fn shouted(text: &[u8], end: usize) -> bool {
    let capital = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_';
    let length = count_back(text, end, NAME, capital);
    names_a_secret(&text[end - length..end]) && begins_a_word(text, end - length)
}

/// The value of a variable, which begins at `begin` or behind a quote there.
fn exported(text: &[u8], begin: usize) -> Option<Shape> {
    let begin = ahead(text, begin, 2, |b| matches!(b, b'"' | b'\'' | b'\\'));
    let seen = &text[begin..ahead(text, begin, LOOK, is_shell_word)];
    let marked = find(seen, b"[redacted");
    if marked.unwrap_or(seen.len()) < 6 || !is_literal(seen) {
        return None;
    }
    let end = marked.map_or_else(|| run(text, begin, is_shell_word), |at| begin + at);
    Some((begin..end, "assigned secret"))
}

/// Whether the last word of a name says that it holds a secret. A bare `key` is most often that of a map.
fn names_a_secret(name: &[u8]) -> bool {
    const SECRET: [&[u8]; 8] = [
        b"key",
        b"token",
        b"secret",
        b"password",
        b"passwd",
        b"passphrase",
        b"credential",
        b"credentials",
    ];
    let name = name.to_ascii_lowercase();
    name != b"key" && SECRET.iter().any(|word| name.ends_with(word))
}

/// Whether a value is written out, and not a reference, a placeholder or a mark of this redactor.
fn is_literal(value: &[u8]) -> bool {
    !matches!(
        value.first(),
        None | Some(b'$' | b'[' | b'<' | b'(' | b'{' | b'%' | b'*')
    )
}

/// Whether a word can begin at `i`: behind what is no letter or digit, an escape (`\n`) or a colour code.
fn begins_a_word(text: &[u8], i: usize) -> bool {
    match text[..i] {
        [.., last] if !last.is_ascii_alphanumeric() => true,
        [.., b'\\', b'n' | b'r' | b't' | b'u'] | [.., b'\\', b'u', _, _, _, _] | [] => true,
        [.., b'm'] => {
            let digits = count_back(text, i - 1, 12, |b| b.is_ascii_digit() || b == b';');
            text[..i - 1 - digits].ends_with(b"[")
        }
        [..] => false,
    }
}

/// The end of a secret, once it is one: of the run of bytes in a class that begins at `begin`.
fn run(text: &[u8], begin: usize, class: impl Fn(u8) -> bool) -> usize {
    ahead(text, begin, LONGEST, class)
}

/// The end of the bytes in a class that begin at `begin`, up to `most` of them. To recognise a secret, `most`
/// is small: what is not one is looked at again from its next byte.
fn ahead(text: &[u8], begin: usize, most: usize, class: impl Fn(u8) -> bool) -> usize {
    let next = text[begin..].iter().take(most);
    begin + next.take_while(|b| class(**b)).count()
}

/// How many bytes before `end` are in a class, up to `most`.
fn count_back(text: &[u8], end: usize, most: usize, class: impl Fn(u8) -> bool) -> usize {
    let back = text[..end].iter().rev().take(most);
    back.take_while(|b| class(**b)).count()
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|at| at == wanted)
}

const fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')
}

const fn is_header(b: u8) -> bool {
    is_word(b) || matches!(b, b'.' | b'~' | b'+' | b'/' | b'=')
}

const fn is_base64(b: u8) -> bool {
    is_word(b) || matches!(b, b'+' | b'/' | b'=')
}

const fn is_shell_word(b: u8) -> bool {
    b.is_ascii_graphic()
        && !matches!(
            b,
            b'"' | b'\'' | b'\\' | b'`' | b';' | b',' | b')' | b'}' | b']'
        )
}

/// Base64, its headers, white space, and newlines as JSON writes them.
const fn is_key_block(b: u8) -> bool {
    is_base64(b) || b.is_ascii_whitespace() || matches!(b, b'\\' | b':' | b',')
}
