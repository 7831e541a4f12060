//! Packages of every shape, built by real cargo as their users would.

mod builder;
mod cache;
mod changes;
mod dependencies;
mod reproducible;
mod settings;
mod shapes;
mod support;
