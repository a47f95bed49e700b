//! The project's own commands: `cargo xtask`.
#![forbid(unsafe_code)]

fn main() {}
