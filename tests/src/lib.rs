//! Tests that span crates; see the folders beside this file.
