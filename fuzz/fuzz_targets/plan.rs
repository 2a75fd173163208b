//! Fuzzes a model's plan.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| backstop_fuzz::plan(bytes));
