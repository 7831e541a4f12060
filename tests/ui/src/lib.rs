//! Programs that relocgpu's macros refuse, each with the message a user sees, and programs they must take.
//!
//! `tests/messages.rs` compiles them; `TRYBUILD=overwrite cargo test -p ui` writes the expected messages anew.
