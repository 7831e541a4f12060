//! Packages of every shape, built by real cargo as their users would.

mod changes;
mod dependencies;
mod settings;
mod shapes;
mod support;
