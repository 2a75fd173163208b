//! What must not compile: a payment that nobody charged.

#[test]
fn a_payment_cannot_be_forged() {
    trybuild::TestCases::new().compile_fail("tests/forging/*.rs");
}
