//! What must not compile: reusing a consumed state, forging a success.

#[test]
fn a_consumed_state_is_gone_and_a_success_is_not_forged() {
    trybuild::TestCases::new().compile_fail("tests/compile-fail/*.rs");
}
