//! The rules of the git edge, held against a real git in temporary repositories.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed"
)]

mod hostile;
mod operator;
mod scratch;
mod ship;
mod support;
mod workspace;
