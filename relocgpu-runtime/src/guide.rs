//! Chapters on one subject each, with examples that run.

#[doc = include_str!("guide/host_references.md")]
pub mod host_references {}
