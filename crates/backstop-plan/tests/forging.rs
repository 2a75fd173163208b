//! What does not compile: a plan, an approval or a cleared check that no door made, and a state that is used twice.

#[test]
fn plans_and_approvals_cannot_be_forged_or_used_twice() {
    trybuild::TestCases::new().compile_fail("tests/forging/*.rs");
}
