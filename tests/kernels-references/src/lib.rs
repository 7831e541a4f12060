//! Host references: words of every kind, tables, items, memory and names; when they are evaluated, how they are delivered.

mod deliveries;
mod evaluation;
mod items;
mod memory;
mod named;
mod repetitions;
mod tables;
mod words;

use check::Check;

/// The checks of this crate. Binds what its kernels read by name.
///
/// # Panics
/// If the names are bound to something else.
pub fn checks() -> Vec<Check> {
    named::bind().expect("nobody else binds these names");
    let themes = [
        words::checks(),
        tables::checks(),
        evaluation::checks(),
        items::checks(),
        memory::checks(),
        named::checks(),
        deliveries::checks(),
        repetitions::checks(),
    ];
    themes.concat()
}
