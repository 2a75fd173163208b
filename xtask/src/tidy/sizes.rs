//! Small pieces: functions, files, crate roots, parameters.
//!
//! Tests are held by clippy alone, but for the size of a test file.

use syn::visit::{self, Visit};
use syn::{Block, ImplItemFn, ItemFn, Signature, TraitItemFn};

use crate::failure::Fault;
use crate::rust::Rust;

const FUNCTION: usize = 70;
const FILE: usize = 500;
const TEST_FILE: usize = 900;
const ROOT: usize = 80;
const PARAMETERS: usize = 5;

/// What is too large.
pub(super) fn faults(rust: &Rust<'_>) -> Vec<Fault> {
    let mut walk = Walk {
        rust,
        faults: file(rust).into_iter().collect(),
    };
    walk.visit_file(&rust.tree);
    walk.faults
}

fn file(rust: &Rust<'_>) -> Option<Fault> {
    let path = &rust.file.path;
    let whole = rust.file.text.lines().count();
    let (lines, most, which) = match path.ends_with("/src/lib.rs") {
        _ if rust.file.is_test() => (whole, TEST_FILE, ""),
        true => (rust.production_lines(), ROOT, " outside tests"),
        false => (rust.production_lines(), FILE, " outside tests"),
    };
    let said = || format!("has {lines} lines{which}, of at most {most}: split it");
    (lines > most).then(|| Fault::of(path, said()))
}

struct Walk<'a> {
    rust: &'a Rust<'a>,
    faults: Vec<Fault>,
}

impl Walk<'_> {
    fn judge(&mut self, signature: &Signature, block: Option<&Block>) {
        let name = &signature.ident;
        let first = signature.fn_token.span.start().line;
        let last = block.map_or(first, |block| block.brace_token.span.close().end().line);
        if self.rust.is_test_line(first) {
            return;
        }
        let lines = last - first + 1;
        if lines > FUNCTION {
            self.fault(
                first,
                format!("`{name}` has {lines} lines, of at most {FUNCTION}: split it"),
            );
        }
        let parameters = signature.inputs.len();
        if parameters > PARAMETERS {
            self.fault(
                first,
                format!(
                    "`{name}` takes {parameters} parameters, of at most {PARAMETERS}: name a type"
                ),
            );
        }
    }

    fn fault(&mut self, line: usize, said: String) {
        self.faults
            .push(Fault::at(&self.rust.file.path, line, said));
    }
}

impl<'ast> Visit<'ast> for Walk<'_> {
    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.judge(&item.sig, Some(&item.block));
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        self.judge(&item.sig, Some(&item.block));
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast TraitItemFn) {
        self.judge(&item.sig, item.default.as_ref());
        visit::visit_trait_item_fn(self, item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::said;

    fn function(lines: usize) -> String {
        format!("fn long() {{\n{}}}\n", "    x;\n".repeat(lines - 2))
    }

    #[test]
    fn a_function_of_seventy_lines_is_the_longest() {
        assert_eq!(said(faults, "a.rs", &function(70)), [""; 0]);
        let wanted = "has 71 lines, of at most 70: split it";
        assert_eq!(
            said(faults, "a.rs", &function(71)),
            [format!("a.rs:1: `long` {wanted}")]
        );
        let method = format!("impl A {{\n/// Doc.\n{}}}\n", function(71));
        assert_eq!(
            said(faults, "a.rs", &method),
            [format!("a.rs:3: `long` {wanted}")]
        );
        let test = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", function(71));
        assert_eq!(said(faults, "a.rs", &test), [""; 0]);
    }

    #[test]
    fn five_parameters_are_the_most_and_the_receiver_is_one() {
        let text = "trait A { fn f(&self, a: u8, b: u8, c: u8, d: u8); fn g(&self, a: u8, b: u8, c: u8, d: u8, e: u8); }\n";
        assert_eq!(
            said(faults, "a.rs", text),
            ["a.rs:1: `g` takes 6 parameters, of at most 5: name a type"]
        );
    }

    #[test]
    fn files_have_their_most_lines_outside_tests() {
        let count = |path: &str, text: &str| said(faults, path, text).len();
        let lines = |count: usize| "// x\n".repeat(count);
        assert_eq!(count("crates/a/src/b.rs", &lines(500)), 0);
        assert_eq!(count("crates/a/src/b.rs", &lines(501)), 1);
        assert_eq!(count("crates/a/src/lib.rs", &lines(80)), 0);
        assert_eq!(count("crates/a/src/lib.rs", &lines(81)), 1);
        assert_eq!(count("crates/a/tests/b.rs", &lines(900)), 0);
        assert_eq!(count("crates/a/tests/b.rs", &lines(901)), 1);
        let tested = format!(
            "{}#[cfg(test)]\nmod tests {{\n{}}}\n",
            lines(500),
            lines(500)
        );
        assert_eq!(count("crates/a/src/b.rs", &tested), 0);
    }
}
