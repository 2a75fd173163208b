//! What must not compile: launches that nobody paid for, operators that nobody is, missions written by hand.

#[test]
fn launches_operators_and_missions_cannot_be_forged() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
