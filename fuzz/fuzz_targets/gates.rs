//! Fuzzes a set of gates.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| backstop_fuzz::gates(bytes));
