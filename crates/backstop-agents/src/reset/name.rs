//! Names of headers and fields that hold a reset time, told by their words: `retry-after`, `resetsAt`,
//! `x-ratelimit-reset-requests`, `quotaResetDelay`.

use backstop_vocab::Span;

/// What a number alone means, and what may stand in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Words: a number alone is nothing but an epoch.
    Prose,
    /// After `in` or `wait`: only a span makes sense.
    Span,
    /// After `until`: only a moment makes sense.
    Moment,
    /// A field: a number alone counts these from now, if it is not an epoch.
    Counts(Span),
}

/// The words of a name, in lower case.
pub(super) struct Name(Vec<String>);

impl Name {
    /// Words are parted by `-`, `_` and capitals.
    pub(super) fn of(name: &str) -> Self {
        let mut words = vec![String::new()];
        let mut small = false;
        for c in name.chars().take(80) {
            if matches!(c, '-' | '_') || (small && c.is_uppercase()) {
                words.push(String::new());
            }
            small = c.is_lowercase() || c.is_ascii_digit();
            if c.is_alphanumeric()
                && let Some(word) = words.last_mut()
            {
                word.extend(c.to_lowercase());
            }
        }
        words.retain(|word| !word.is_empty());
        Self(words)
    }

    fn has(&self, any: &[&str]) -> bool {
        self.0.iter().any(|word| any.contains(&word.as_str()))
    }

    fn has_pair(&self, first: &str, second: &str) -> bool {
        let pair = |two: &[String]| matches!(two, [a, b] if a == first && b == second);
        self.0.windows(2).any(pair)
    }

    /// What its value may be; none where it promises no time.
    pub(super) fn form(&self) -> Option<Form> {
        let millis = self.has(&["ms", "millis", "milliseconds"]);
        let unit = if millis {
            Span::from_millis(1)
        } else {
            Span::from_secs(1)
        };
        // A delay in milliseconds is what a program waits by itself, not what a provider asks for.
        let retry = self.has_pair("retry", "after") || (self.has_pair("retry", "delay") && !millis);
        if retry {
            return Some(Form::Counts(unit));
        }
        if !self.has(&["reset", "resets"]) {
            return None;
        }
        let names_a_moment = self.has(&["at", "time", "timestamp", "stamp", "date", "on"]);
        Some(if names_a_moment || !self.is_compound() {
            Form::Prose
        } else {
            Form::Counts(unit)
        })
    }

    /// Two words or more: it can only be the name of a field.
    pub(super) fn is_compound(&self) -> bool {
        self.0.len() > 1
    }

    /// It tells of one window among others, perhaps not the one that was spent.
    pub(super) fn is_one_of_many(&self) -> bool {
        let first = self.0.first().map_or("", String::as_str);
        let window = first == "x" || first.len() == 1 || self.has(&["ratelimit"]);
        window && !self.has(&["unified"])
    }
}
