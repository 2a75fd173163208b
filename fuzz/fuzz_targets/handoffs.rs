//! Fuzzes what roles hand on.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| backstop_fuzz::handoffs(bytes));
