//! One line of input: how much of it is read, which op it names, and the op's fields. What an op means is elsewhere.

use std::collections::HashSet;
use std::fmt;
use std::io::{self, BufRead, Read as _};
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Error as _, IgnoredAny, IntoDeserializer as _, MapAccess,
    SeqAccess, Visitor,
};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::Op;
use super::answer::Refused;

/// The most bytes of a line, without its newline.
const MOST: u64 = 1024 * 1024;

/// What a line is before anybody has read what it says.
pub(super) enum Line<'a> {
    /// Nothing but white space.
    Blank,
    /// All of it, without white space around it.
    Whole(&'a [u8]),
    /// More than is read; the rest of it is passed over.
    TooLong(Refused),
}

/// The next line, read into `buffer`; none at the end of the input. Never holds more than [`MOST`] bytes of it.
pub(super) fn read<'a>(
    input: &mut impl BufRead,
    buffer: &'a mut Vec<u8>,
) -> io::Result<Option<Line<'a>>> {
    buffer.clear();
    let mut limited = input.by_ref().take(MOST + 1);
    if limited.read_until(b'\n', buffer)? == 0 {
        return Ok(None);
    }
    if limited.limit() == 0 && !buffer.ends_with(b"\n") {
        input.skip_until(b'\n')?;
        let words = format!("the line has more than {MOST} bytes: ask for less at once");
        return Ok(Some(Line::TooLong(Refused::new("too_long", &words))));
    }
    Ok(Some(match buffer.trim_ascii() {
        [] => Line::Blank,
        text => Line::Whole(text),
    }))
}

/// The op that the line names.
///
/// # Errors
/// When the line is not JSON, has a key twice, is not an object, or names no op or an unknown one.
pub(super) fn op(line: &[u8]) -> Result<Op, Refused> {
    serde_json::from_slice::<Distinct>(line).map_err(|error| unreadable(&error))?;
    if !line.starts_with(b"{") {
        let words = "the line is not an object: write `{\"op\":…}`";
        return Err(Refused::new("not_an_object", &words));
    }
    match serde_json::from_slice::<Head>(line).map(|head| head.op) {
        Ok(Some(Value::String(name))) => named(&name),
        Ok(Some(other)) => named(&other.to_string()),
        Ok(None) => Err(Refused::new(
            "missing_op",
            &format!("the object has no `op`: use one of {}", names()),
        )),
        Err(error) => Err(unreadable(&error)),
    }
}

fn named(name: &str) -> Result<Op, Refused> {
    let op = Op::ALL.into_iter().find(|op| op.name() == name);
    op.ok_or_else(|| {
        let shown: String = name.chars().take(64).collect();
        let words = format!("`{shown}` is not an op: use one of {}", names());
        Refused::new("unknown_op", &words)
    })
}

fn names() -> String {
    Op::ALL.map(Op::name).join(", ")
}

fn unreadable(error: &serde_json::Error) -> Refused {
    if error.is_data() {
        return Refused::new("duplicate_key", &words(error));
    }
    let (words, column) = (words(error), error.column());
    let words = format!("the line is not JSON: {words} at column {column}");
    Refused::new("not_json", &words)
}

/// What serde says, without the place: the line of a line is always 1.
fn words(error: &serde_json::Error) -> String {
    let words = error.to_string();
    match words.rsplit_once(" at line ") {
        Some((words, _)) if error.line() > 0 => words.to_owned(),
        Some(_) | None => words,
    }
}

/// The fields of the line's op, which are all of the line but `op`.
///
/// # Errors
/// When a field is missing, unknown or of another type than it has; with its path.
pub(super) fn fields<T: DeserializeOwned>(line: &[u8]) -> Result<T, Refused> {
    let mut json = serde_json::Deserializer::from_slice(line);
    let fields: Result<Fields<T>, _> = serde_path_to_error::deserialize(&mut json);
    fields.map(|fields| fields.0).map_err(|error| {
        let words = without_rust(words(error.inner()));
        // The key of a closed list is `?` in the path; the words name it.
        let path = error.path().to_string();
        match path.trim_end_matches('?').trim_end_matches('.') {
            "" => Refused::new("bad_field", &words),
            path => Refused::new("bad_field", &format!("`{path}`: {words}")),
        }
    })
}

/// Types by names that a reader of another language knows.
fn without_rust(words: String) -> String {
    const NAMES: [(&str, &str); 5] = [
        ("expected value", "expected a value of another form"),
        ("expected a nonzero u32", "expected a whole number from 1"),
        ("expected u32", "expected a whole number from 0"),
        ("expected u64", "expected a whole number from 0"),
        ("expected i32", "expected a whole number"),
    ];
    let named = NAMES.iter().find_map(|(rust, plain)| {
        let before = words.strip_suffix(rust)?;
        Some(format!("{before}{plain}"))
    });
    named.unwrap_or(words)
}

#[derive(Deserialize)]
struct Head {
    #[serde(default, deserialize_with = "present")]
    op: Option<Value>,
}

/// A value that is there, even when it is null.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

struct Fields<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Fields<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(FieldsVisitor(PhantomData)).map(Self)
    }
}

struct FieldsVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for FieldsVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(WithoutOp(map)))
    }
}

/// A map that passes over `op`, so that the fields of an op can refuse every key that is not theirs.
struct WithoutOp<A>(A);

impl<'de, A: MapAccess<'de>> MapAccess<'de> for WithoutOp<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        while let Some(key) = self.0.next_key::<String>()? {
            if key != "op" {
                return seed.deserialize(key.into_deserializer()).map(Some);
            }
            self.0.next_value::<IgnoredAny>()?;
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.0.next_value_seed(seed)
    }
}

/// Any JSON value in which no object has a key twice. Readers disagree on which of two counts, so neither does.
struct Distinct;

impl<'de> Deserialize<'de> for Distinct {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(DistinctVisitor)
    }
}

struct DistinctVisitor;

impl<'de> Visitor<'de> for DistinctVisitor {
    type Value = Distinct;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Distinct, E> {
        Ok(Distinct)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Distinct, E> {
        Ok(Distinct)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Distinct, E> {
        Ok(Distinct)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Distinct, E> {
        Ok(Distinct)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Distinct, E> {
        Ok(Distinct)
    }

    fn visit_str<E>(self, _: &str) -> Result<Distinct, E> {
        Ok(Distinct)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Distinct, A::Error> {
        while list.next_element::<Distinct>()?.is_some() {}
        Ok(Distinct)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Distinct, A::Error> {
        let mut seen = HashSet::new();
        while let Some((key, _)) = map.next_entry::<String, Distinct>()? {
            if let Some(key) = seen.replace(key) {
                let words = format!("`{key}` is named twice in one object: keep one of them");
                return Err(A::Error::custom(words));
            }
        }
        Ok(Distinct)
    }
}
