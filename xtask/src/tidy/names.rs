//! Names that say what a thing is: no empty type names, no `get_`, no parameter that is only yes or no.

use proc_macro2::Ident;
use syn::visit::{self, Visit};
use syn::{
    FnArg, ImplItemFn, ItemEnum, ItemFn, ItemImpl, ItemStruct, ItemTrait, ItemType, Signature,
    TraitItemFn, Type, Visibility,
};

use crate::failure::Fault;
use crate::rust::Rust;

const EMPTY: [&str; 8] = [
    "Manager", "Handler", "Helper", "Util", "Utils", "Info", "Data", "Context",
];

/// What is badly named, tests aside.
pub(super) fn faults(rust: &Rust<'_>) -> Vec<Fault> {
    let mut walk = Walk {
        rust,
        faults: Vec::new(),
    };
    walk.visit_file(&rust.tree);
    walk.faults
}

struct Walk<'a> {
    rust: &'a Rust<'a>,
    faults: Vec<Fault>,
}

impl Walk<'_> {
    fn name_of_type(&mut self, name: &Ident) {
        let text = name.to_string();
        if let Some(word) = words(&text).find(|word| EMPTY.contains(word)) {
            self.fault(
                name,
                &format!("`{word}` in `{text}` says nothing: name what it is"),
            );
        }
    }

    fn name_of_function(&mut self, name: &Ident) {
        let text = name.to_string();
        if let Some(rest) = text.strip_prefix("get_") {
            self.fault(name, &format!("`{text}` needs no `get_`: name it `{rest}`"));
        }
    }

    fn parameters(&mut self, signature: &Signature) {
        let is_bool = |input: &FnArg| match input {
            FnArg::Typed(typed) => {
                matches!(&*typed.ty, Type::Path(path) if path.path.is_ident("bool"))
            }
            FnArg::Receiver(_) => false,
        };
        if signature.inputs.iter().any(is_bool) {
            let said = format!(
                "`{}` takes a `bool`: use an enum whose names can be read at the call",
                signature.ident
            );
            self.fault(&signature.ident, &said);
        }
    }

    fn function(&mut self, signature: &Signature, visibility: &Visibility) {
        self.name_of_function(&signature.ident);
        if !matches!(visibility, Visibility::Inherited) {
            self.parameters(signature);
        }
    }

    fn fault(&mut self, name: &Ident, said: &str) {
        let line = name.span().start().line;
        if !self.rust.is_test_line(line) {
            self.faults
                .push(Fault::at(&self.rust.file.path, line, said));
        }
    }
}

impl<'ast> Visit<'ast> for Walk<'_> {
    fn visit_item_struct(&mut self, item: &'ast ItemStruct) {
        self.name_of_type(&item.ident);
    }

    fn visit_item_enum(&mut self, item: &'ast ItemEnum) {
        self.name_of_type(&item.ident);
    }

    fn visit_item_type(&mut self, item: &'ast ItemType) {
        self.name_of_type(&item.ident);
    }

    fn visit_item_trait(&mut self, item: &'ast ItemTrait) {
        self.name_of_type(&item.ident);
        visit::visit_item_trait(self, item);
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.function(&item.sig, &item.vis);
        visit::visit_item_fn(self, item);
    }

    /// The functions of another's trait are named by that trait.
    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        if item.trait_.is_none() {
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        self.function(&item.sig, &item.vis);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast TraitItemFn) {
        self.name_of_function(&item.sig.ident);
        self.parameters(&item.sig);
        visit::visit_trait_item_fn(self, item);
    }
}

/// The words of a name in camel case.
fn words(name: &str) -> impl Iterator<Item = &str> {
    let starts = name
        .char_indices()
        .filter(|(_, c)| c.is_uppercase())
        .map(|(at, _)| at);
    let ends = starts.clone().skip(1).chain([name.len()]);
    starts
        .zip(ends)
        .filter_map(|(start, end)| name.get(start..end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::said;

    #[test]
    fn an_empty_word_in_the_name_of_a_type_is_refused() {
        let text =
            "struct GateManager;\nenum Info {}\ntrait DataSource {}\ntype RunContext = u8;\n";
        assert_eq!(said(faults, "a.rs", text).len(), 4);
        assert_eq!(
            said(
                faults,
                "a.rs",
                "struct Database;\nenum Informed {}\nstruct Utility;\n"
            ),
            [""; 0]
        );
    }

    #[test]
    fn a_function_is_not_named_get() {
        let text = "impl A { fn get_stage(&self) {} fn get(&self) {} }\nimpl B for A { fn get_it(&self) {} }\n";
        assert_eq!(
            said(faults, "a.rs", text),
            ["a.rs:1: `get_stage` needs no `get_`: name it `stage`"]
        );
    }

    #[test]
    fn a_bool_is_no_parameter_of_what_others_call() {
        let text = "pub fn f(a: bool) {}\nfn g(a: bool) {}\nimpl A { pub(crate) fn h(&self, a: bool) {} }\n\
            trait B { fn i(&self, a: bool); }\nimpl B for A { fn i(&self, a: bool) {} }\n\
            #[cfg(test)]\nmod tests { pub fn j(a: bool) {} }\npub fn k(a: &bool) -> bool { true }\n";
        let found = said(faults, "a.rs", text);
        let lines: Vec<&str> = found
            .iter()
            .filter_map(|fault| fault.split(": ").next())
            .collect();
        assert_eq!(lines, ["a.rs:1", "a.rs:3", "a.rs:4"]);
    }
}
