//! Secrets that are known by value. Not in it: shapes.

use std::fmt::Write as _;

/// The shortest value that is looked for, in bytes.
const SHORTEST: usize = 8;

/// The shortest line of a value of several lines that is looked for on its own, in bytes.
const SHORTEST_LINE: usize = 16;

/// The longest value that is looked for whole, in bytes; of a longer one, its beginning is.
pub(super) const LONGEST: usize = 8 << 10;

/// What a variable with a secret contains in its name.
const SECRET: [&str; 9] = [
    "KEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "AUTH",
    "_PAT",
];

/// What a variable has in its name when it names a keyboard, or a place where a secret is.
const HARMLESS: [&str; 11] = [
    "KEYBOARD",
    "KEYRING",
    "KEYMAP",
    "AUTHOR",
    "_FILE",
    "_PATH",
    "_DIR",
    "_SOCK",
    "_HOME",
    "XAUTHORITY",
    "APPLICATION_CREDENTIALS",
];

/// Whether the value of the variable `name` is a secret.
pub(super) fn names_a_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let has = |part: &&str| name.contains(part);
    SECRET.iter().any(has) && !HARMLESS.iter().any(has)
}

/// One spelling of a value.
#[derive(Debug, Clone)]
struct Value {
    bytes: Vec<u8>,
    label: String,
}

impl Value {
    /// What it is found by: its first eight bytes.
    fn key(&self) -> Option<u64> {
        key(&self.bytes)
    }
}

fn key(bytes: &[u8]) -> Option<u64> {
    bytes
        .first_chunk::<SHORTEST>()
        .map(|eight| u64::from_be_bytes(*eight))
}

/// All known values.
#[derive(Clone, Default)]
pub(super) struct Values {
    // INVARIANT: sorted by key, then the longest first; none shorter than SHORTEST or holding a newline.
    sorted: Vec<Value>,
    /// Which bytes a value begins with.
    begins: Begins,
}

#[derive(Clone)]
struct Begins([bool; 256]);

impl Default for Begins {
    fn default() -> Self {
        Self([false; 256])
    }
}

// The values themselves are what must never be printed.
impl std::fmt::Debug for Values {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let labels = self.sorted.iter().map(|value| &value.label);
        f.debug_list().entries(labels).finish()
    }
}

impl Values {
    /// Adds every spelling of `value`.
    pub(super) fn add(&mut self, name: &str, value: &[u8]) {
        let value = value.trim_ascii();
        if value.len() < SHORTEST || value.iter().all(u8::is_ascii_digit) {
            return;
        }
        let in_text = String::from_utf8_lossy(value);
        let json = serde_json::Value::from(in_text.as_ref()).to_string();
        self.insert(name, json.trim_matches('"').as_bytes());
        self.insert(name, percent(value).as_bytes());
        if !value.contains(&b'\n') {
            return self.insert(name, value);
        }
        for line in value.split(|b| *b == b'\n').map(<[u8]>::trim_ascii) {
            if line.len() >= SHORTEST_LINE {
                self.insert(name, line);
            }
        }
    }

    fn insert(&mut self, name: &str, bytes: &[u8]) {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let named = !name.is_empty() && name.len() <= 64 && name.chars().all(plain);
        let value = Value {
            bytes: bytes[..bytes.len().min(LONGEST)].to_vec(),
            label: if named { name } else { "value" }.to_owned(),
        };
        if self.sorted.iter().any(|known| known.bytes == value.bytes) {
            return;
        }
        self.begins.0[usize::from(value.bytes[0])] = true;
        let order = |v: &Value| (v.key(), std::cmp::Reverse(v.bytes.len()));
        let place = self.sorted.partition_point(|v| order(v) < order(&value));
        self.sorted.insert(place, value);
    }

    /// The length and name of the longest value that is at `i`.
    pub(super) fn at(&self, text: &[u8], i: usize) -> Option<(usize, &str)> {
        if !self.begins.0[usize::from(*text.get(i)?)] {
            return None;
        }
        let rest = &text[i..];
        let wanted = key(rest);
        let first = self.sorted.partition_point(|value| value.key() < wanted);
        let same = self.sorted[first..]
            .iter()
            .take_while(|value| value.key() == wanted);
        let found = same.clone().find(|value| rest.starts_with(&value.bytes))?;
        Some((found.bytes.len(), &found.label))
    }
}

/// The value as a part of a URL.
fn percent(value: &[u8]) -> String {
    let mut out = String::new();
    for byte in value {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(*byte));
            }
            other => drop(write!(out, "%{other:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_whether_its_value_is_secret() {
        for secret in [
            "GITHUB_TOKEN",
            "ANTHROPIC_API_KEY",
            "aws_secret_access_key",
            "DB_PASSWORD",
            "NPM_AUTH",
            "GITHUB_PAT",
        ] {
            assert!(names_a_secret(secret), "{secret}");
        }
        for harmless in [
            "PATH",
            "HOME",
            "SSH_AUTH_SOCK",
            "XKB_KEYBOARD",
            "GIT_AUTHOR_NAME",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "SSL_KEY_FILE",
        ] {
            assert!(!names_a_secret(harmless), "{harmless}");
        }
    }

    #[test]
    fn the_values_are_never_printed() {
        let mut values = Values::default();
        values.add("NAME", b"hunter2hunter2");
        assert_eq!(format!("{values:?}"), r#"["NAME"]"#);
    }
}
