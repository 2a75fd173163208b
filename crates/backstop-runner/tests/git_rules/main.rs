//! The rules of the git edge, held against a real git in temporary repositories.

mod hostile;
mod operator;
mod scratch;
mod ship;
mod support;
mod workspace;
