//! What must not compile: proofs that are made, copied or read from a file instead of earned.

#[test]
fn proofs_cannot_be_forged() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
