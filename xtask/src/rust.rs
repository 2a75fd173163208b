//! A Rust file as the checks see it: its tree, its tokens, its comments, and which lines are tests.
//!
//! Tokens are searched where a macro could hide something from the tree.

use std::iter;
use std::ops::{Range, RangeInclusive};

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};

use crate::failure::Failure;
use crate::repo::File;

/// One token, brackets included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    /// As it is written.
    pub(crate) text: String,
    /// Its line, counted from 1.
    pub(crate) line: usize,
    bytes: Range<usize>,
}

/// One comment or one piece of it; a doc comment too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Comment {
    /// One line of it.
    pub(crate) text: String,
    /// Its line, counted from 1.
    pub(crate) line: usize,
}

/// A parsed file.
pub(crate) struct Rust<'a> {
    /// The file.
    pub(crate) file: &'a File,
    /// Its syntax tree.
    pub(crate) tree: syn::File,
    /// Its tokens, flat, without doc comments.
    pub(crate) tokens: Vec<Token>,
    /// Its comments, line by line.
    pub(crate) comments: Vec<Comment>,
    tests: Vec<RangeInclusive<usize>>,
}

impl<'a> Rust<'a> {
    /// Parses a file.
    pub(crate) fn parse(file: &'a File) -> Result<Self, Failure> {
        let wrong = |error: &dyn ToString| {
            Failure::unreadable(format!("`{}`", file.path), error.to_string())
        };
        let tree = syn::parse_file(&file.text).map_err(|error| wrong(&error))?;
        let stream: TokenStream = file.text.parse().map_err(|error| wrong(&error))?;
        let mut all = Vec::new();
        flatten(stream.clone(), &mut all);
        let mut tests = Vec::new();
        find_tests(stream, &mut tests);
        if file.is_test() {
            tests.push(1..=usize::MAX);
        }
        let tokens = without_docs(&file.text, all);
        let comments = comments(&file.text, &tokens);
        Ok(Self {
            file,
            tree,
            tokens,
            comments,
            tests,
        })
    }

    /// Whether a line belongs to tests.
    pub(crate) fn is_test_line(&self, line: usize) -> bool {
        self.tests.iter().any(|range| range.contains(&line))
    }

    /// How many lines are not of tests.
    pub(crate) fn production_lines(&self) -> usize {
        let count = self.file.text.lines().count();
        (1..=count).filter(|line| !self.is_test_line(*line)).count()
    }
}

/// The tokens but for those of doc comments, the first of which spans the whole comment.
fn without_docs(text: &str, mut tokens: Vec<Token>) -> Vec<Token> {
    let mut end = 0;
    tokens.retain(|token| {
        let written = text.get(token.bytes.clone()).unwrap_or("");
        if written.starts_with("//") || written.starts_with("/*") {
            end = token.bytes.end;
        }
        token.bytes.start >= end
    });
    tokens
}

fn flatten(stream: TokenStream, into: &mut Vec<Token>) {
    for tree in stream {
        if let TokenTree::Group(group) = tree {
            let (open, close) = brackets(&group);
            into.push(token(open, group.span_open()));
            flatten(group.stream(), into);
            into.push(token(close, group.span_close()));
        } else {
            into.push(token(&tree.to_string(), tree.span()));
        }
    }
}

fn token(text: &str, span: Span) -> Token {
    Token {
        text: text.to_owned(),
        line: span.start().line,
        bytes: span.byte_range(),
    }
}

fn brackets(group: &Group) -> (&'static str, &'static str) {
    match group.delimiter() {
        Delimiter::Parenthesis => ("(", ")"),
        Delimiter::Brace => ("{", "}"),
        Delimiter::Bracket => ("[", "]"),
        Delimiter::None => ("", ""),
    }
}

/// The comments: whatever but white space stands between tokens.
fn comments(text: &str, tokens: &[Token]) -> Vec<Comment> {
    let mut found = Vec::new();
    let mut end = 0;
    let code = tokens.iter().map(|token| token.bytes.clone());
    for bytes in code.chain(iter::once(text.len()..text.len())) {
        let gap = text.get(end..bytes.start).unwrap_or("");
        if !gap.trim().is_empty() {
            let before = text.get(..end).unwrap_or("");
            let first = before.matches('\n').count() + 1;
            found.extend((first..).zip(gap.split('\n')).filter_map(comment));
        }
        end = bytes.end.max(end);
    }
    found
}

fn comment((line, words): (usize, &str)) -> Option<Comment> {
    let text = words.trim().to_owned();
    (!text.is_empty()).then_some(Comment { text, line })
}

/// The lines of each item under `#[cfg(test)]`, its attributes included.
fn find_tests(stream: TokenStream, into: &mut Vec<RangeInclusive<usize>>) {
    let trees: Vec<TokenTree> = stream.into_iter().collect();
    let mut at = 0;
    while let Some(tree) = trees.get(at) {
        let start = tree.span().start().line;
        if let Some(whole) = test_attribute(trees.get(at..).unwrap_or(&[])) {
            let rest = trees.get(at..).unwrap_or(&[]);
            let length = if whole { rest.len() } else { item_length(rest) };
            let last = trees.get(at + length - 1).unwrap_or(tree);
            into.push(start..=last.span().end().line);
            at += length;
            continue;
        }
        if let TokenTree::Group(group) = tree {
            find_tests(group.stream(), into);
        }
        at += 1;
    }
}

/// Whether an attribute for tests only starts here; true inside when it holds for all that follows.
fn test_attribute(trees: &[TokenTree]) -> Option<bool> {
    let words: Vec<String> = trees.iter().take(3).map(ToString::to_string).collect();
    let (whole, attribute) = match words.as_slice() {
        [hash, bang, body] if hash == "#" && bang == "!" => (true, body),
        [hash, body, ..] if hash == "#" => (false, body),
        _ => return None,
    };
    let plain: String = attribute.split_whitespace().collect();
    let only = plain.starts_with("[cfg(test)") || plain.starts_with("[cfg(all(test,");
    only.then_some(whole)
}

/// How many trees an item takes: to its first block or semicolon.
fn item_length(trees: &[TokenTree]) -> usize {
    let end = trees.iter().position(|tree| match tree {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(punct) => punct.as_char() == ';',
        TokenTree::Ident(_) | TokenTree::Literal(_) => false,
    });
    end.map_or(trees.len(), |end| end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r##"//! Purpose.

/// Doc é.
fn f() -> &'static str {
    // Why: "quoted".
    let x = "// not a comment"; // trailing
    r#"/* nor this */"# /* block
    over lines */
}

#[cfg(test)]
use a::B;

fn g() {}

#[cfg(test)]
mod tests {
    //! Inside.
    fn h() {}
}
"##;

    #[test]
    fn comments_are_found_and_strings_are_not_comments() {
        let file = File::new("a.rs", TEXT);
        let rust = Rust::parse(&file).unwrap();
        let found: Vec<(usize, &str)> = rust
            .comments
            .iter()
            .map(|c| (c.line, c.text.as_str()))
            .collect();
        let wanted = [
            (1, "//! Purpose."),
            (3, "/// Doc é."),
            (5, "// Why: \"quoted\"."),
            (6, "// trailing"),
            (7, "/* block"),
            (8, "over lines */"),
            (18, "//! Inside."),
        ];
        assert_eq!(found, wanted);
    }

    #[test]
    fn lines_under_cfg_test_are_not_production() {
        let file = File::new("a.rs", TEXT);
        let rust = Rust::parse(&file).unwrap();
        let tests: Vec<usize> = (1..=20).filter(|line| rust.is_test_line(*line)).collect();
        assert_eq!(tests, [11, 12, 16, 17, 18, 19, 20]);
        assert_eq!(rust.production_lines(), 13);
    }

    #[test]
    fn a_file_under_an_inner_cfg_test_is_all_test() {
        let file = File::new("a.rs", "//! Purpose.\n#![cfg(test)]\nfn f() {}\n");
        assert!(Rust::parse(&file).unwrap().is_test_line(3));
        let file = File::new("a.rs", "#[cfg(not(test))]\nfn f() {}\n");
        assert!(!Rust::parse(&file).unwrap().is_test_line(2));
    }

    #[test]
    fn tokens_carry_their_line_and_no_doc() {
        let file = File::new("a.rs", "/// Doc.\nfn f() { [1] }\n");
        let rust = Rust::parse(&file).unwrap();
        let words: Vec<&str> = rust
            .tokens
            .iter()
            .map(|token| token.text.as_str())
            .collect();
        assert_eq!(words, ["fn", "f", "(", ")", "{", "[", "1", "]", "}"]);
        assert!(rust.tokens.iter().all(|token| token.line == 2));
    }
}
