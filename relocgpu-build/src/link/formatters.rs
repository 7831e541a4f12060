//! Formatting functions are forgotten: what only panic messages refer to must not pull `core::fmt` into the device module.
//!
//! ```llvm
//! store ptr @"<u32 as core::fmt::Display>::fmt", ptr %argument     ; before
//! store ptr null, ptr %argument                                    ; after
//! ```
//! Code that really formats (it calls `core::fmt::write`) keeps them.

use crate::llvm::{self, Value};
use crate::symbols::path_of;
use inkwell::module::Module;

const TRAITS: [&str; 9] = ["Display", "Debug", "LowerHex", "UpperHex", "Octal", "Binary", "LowerExp", "UpperExp", "Pointer"];

/// Whether a path is a formatting function: `<T as core::fmt::Display>::fmt`.
fn is_formatter(path: &str) -> bool {
    path.starts_with('<')
        && TRAITS.iter().any(|t| path.strip_suffix(">::fmt").is_some_and(|rest| rest.ends_with(&format!(" as core::fmt::{t}"))))
}

/// Runs the pass, before `core` is linked.
pub(super) fn forget(module: &Module) {
    let named: Vec<_> = llvm::functions(module).into_iter().map(|f| (f, path_of(&Value::from(f).name()))).collect();
    let formats = named.iter().filter(|(_, path)| path == "core::fmt::write").any(|(write, _)| {
        // A formatting function of the user's own may call it for its fields.
        Value::from(*write)
            .using_instructions()
            .iter()
            .filter_map(|i| i.function())
            .any(|f| !is_formatter(&path_of(&Value::from(f).name())))
    });
    if formats {
        return;
    }
    for (function, _) in named.iter().filter(|(_, path)| is_formatter(path)) {
        let value = Value::from(*function);
        let calls: Vec<_> = value.users().into_iter().filter(|user| user.called() == Some(value)).collect();
        let Some(null) = value.as_basic().map(|v| v.into_pointer_value().get_type().const_null()) else { continue };
        value.replace_uses(null.into());
        for call in calls {
            call.set_operand(call.operands().len() as u32 - 1, value);
        }
    }
}
