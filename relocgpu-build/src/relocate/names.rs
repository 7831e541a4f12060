//! Names of internals, from their Rust paths and the canonical order alone.
//!
//! | symbol | name |
//! |---|---|
//! | `_RNvCs…_5photo4blur` | `photo__blur`, sanitised, without crate hashes |
//! | `alloc_<hash>`, other constants without a path | `data` |
//! | `vtable.7` | `vtable` |
//! | a second of the same name, or one that PTX or the loader knows | `…_2` |

use super::order::Order;
use crate::llvm::Value;
use crate::symbols::path_of;
use inkwell::module::Module;
use relocgpu_runtime::contract::names::{ptx, readable};
use std::collections::{HashMap, HashSet};

/// Names that PTX or the loader gives a meaning. ptxas takes every other one, its own instructions' too.
const RESERVED: [&str; 4] = ["WARP_SZ", ptx::SLOTS, ptx::PANIC_CLAIM, ptx::PANIC_RECORD];

/// Gives a value a name that it must have; whatever had it gets another one.
pub(super) fn claim<'c>(module: &Module<'c>, value: Value<'c>, name: &str) {
    let global = module.get_global(name).map(Value::from);
    if let Some(other) = global.or_else(|| module.get_function(name).map(Value::from)).filter(|other| *other != value) {
        other.set_name(&format!("{name}_"));
    }
    value.set_name(name);
}

/// Names every internal of `order`; `taken` holds the names of everything else.
pub(super) fn run(order: &Order, mut taken: HashSet<String>) {
    let functions = order.functions.iter().copied().map(Value::from);
    let values: Vec<_> = functions.chain(order.globals.iter().copied().map(Value::from)).filter(|v| !taken.contains(&v.name())).collect();
    let bases: Vec<_> = values.iter().map(|value| base(&value.name())).collect();
    taken.extend(RESERVED.map(str::to_owned));
    // First none has a name, so that LLVM has no reason to change one.
    values.iter().for_each(|value| value.set_name(""));
    let mut counts: HashMap<String, usize> = HashMap::new();
    for (value, base) in values.iter().zip(bases) {
        let name = loop {
            let count = counts.entry(base.clone()).or_default();
            *count += 1;
            let name = if *count == 1 { base.clone() } else { format!("{base}_{count}") };
            if taken.insert(name.clone()) {
                break name;
            }
        };
        value.set_name(&name);
    }
}

fn base(symbol: &str) -> String {
    if symbol.starts_with("alloc_") || symbol.is_empty() || symbol == "relocgpu.text" {
        return "data".into();
    }
    let symbol = match symbol.rsplit_once('.') {
        Some((stem, number)) if number.chars().all(|c| c.is_ascii_digit()) => stem,
        _ => symbol,
    };
    let name = readable(&path_of(symbol));
    // PTX has no name that is nothing but underscores.
    if name.trim_matches('_').is_empty() { "data".into() } else { name }
}
