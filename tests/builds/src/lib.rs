//! Packages of every shape, built by real cargo: see `tests/`, and `../fixtures` for the packages.
