//! What a device cannot do: one report for each kernel that reaches it, with the calls that lead there.
//!
//! ```text
//! kernel `app::clock`: calls `<std::time::Instant>::now`, which belongs to the host's operating system
//!   at src/time.rs:9:14, in `app::time::seconds`
//!   at src/main.rs:17:21, in `app::clock`
//! also allocates memory, and there is no allocator on the device
//!   at src/main.rs:18:11, in `app::clock`
//! help: call it on the host and pass the result, as a parameter or through `host!(…)`
//! help: use fixed-size arrays, or pass a buffer to the kernel
//! ```

use crate::link::LinkedKernel;
use crate::llvm::constant::Constants;
use crate::llvm::{self, Frame, Value};
use crate::reach::{Reach, References};
use crate::symbols::{MEMORY, PAUSE, is_ours, is_shared, path_of};
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::module::Module;
use inkwell::values::{FunctionValue, GlobalValue};
use relocgpu_runtime::contract::manifest::KernelFault;
use relocgpu_runtime::contract::names::{MATH_PREFIX, Reference, intrinsic};
use std::collections::{HashMap, HashSet};

/// Static block-shared memory that every device has.
const SHARED_BYTES: u64 = 48 * 1024;

/// Operations of LLVM that the GPU has no instruction for.
const MATH: [&str; 20] = [
    "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "exp", "exp2", "exp10", "log", "log2", "log10", "pow",
    "powi", "sincos", "modf",
];

/// What is wrong and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Fault {
    what: String,
    help: String,
}

impl Fault {
    fn new(what: impl Into<String>, help: impl Into<String>) -> Self {
        Self { what: what.into(), help: help.into() }
    }
}

/// All faults of all kernels: one report for a kernel, since all its faults are shown at its name.
pub(super) fn run<'c>(module: &Module<'c>, kernels: &[LinkedKernel<'c>]) -> Vec<KernelFault> {
    let references = References::new(module);
    let constants = Constants::new(module);
    // Kernels share functions: each is looked at once.
    let mut found: HashMap<FunctionValue<'c>, Vec<(Value<'c>, Fault)>> = HashMap::new();
    let mut faults = Vec::new();
    for kernel in kernels {
        let reach = references.from(kernel.function);
        let mut seen = HashSet::new();
        let mut own_faults = Vec::new();
        let mut shared = Shared::default();
        for function in &reach.order {
            let of_shared = references.made_by(*function).iter().filter_map(|(at, global)| Some((*at, shared.of(&constants, *global)?)));
            let of_shared: Vec<_> = of_shared.collect();
            let own = found.entry(*function).or_insert_with(|| faults_in(&references, *function));
            for (at, fault) in own.iter().chain(&of_shared) {
                if seen.insert(fault.clone()) {
                    own_faults.push((ways(kernel, &reach, *function, *at), fault.clone()));
                }
            }
        }
        faults.extend(report(kernel, own_faults));
    }
    faults
}

/// Faults of one function's own code, but for its use of shared memory.
fn faults_in<'c>(references: &References<'c>, function: FunctionValue<'c>) -> Vec<(Value<'c>, Fault)> {
    let mut known: HashMap<Value<'c>, Option<Fault>> = HashMap::new();
    let made = references.made_by(function).iter();
    let in_references = made.filter_map(|(at, global)| Some((*at, known.entry(*global).or_insert_with(|| of_reference(*global)).clone()?)));
    let in_code = llvm::instructions(function).into_iter().filter_map(|at| Some((at, of_instruction(at)?)));
    in_references.chain(in_code).collect()
}

/// The source lines that lead from the kernel to the instruction, the last first.
fn ways<'c>(kernel: &LinkedKernel<'c>, reach: &Reach<'c>, function: FunctionValue<'c>, at: Value<'c>) -> String {
    let mut ways = String::new();
    for instruction in std::iter::once(at).chain(reach.chain(function)) {
        let Some(caller) = instruction.function() else { continue };
        let is_entry = caller == kernel.function;
        // The entry is the macro's, but for what was inlined into it. What the standard library does helps nobody.
        let frames = llvm::location_of(instruction);
        let frames = if is_entry { &frames[..frames.len().saturating_sub(1)] } else { &frames[..] };
        if let Some(frame) = frames.iter().find(|frame| !is_std(frame)) {
            let name = if is_entry { kernel.name.clone() } else { path_of(&Value::from(caller).name()) };
            ways += &format!("\n  at {frame}, in `{name}`");
        }
    }
    ways
}

/// What one call of the user's leads to is told together, and each remedy once.
fn report(kernel: &LinkedKernel, faults: Vec<(String, Fault)>) -> Option<KernelFault> {
    let mut places: Vec<(String, Vec<String>)> = Vec::new();
    let mut remedies: Vec<String> = Vec::new();
    for (ways, fault) in faults {
        match places.iter_mut().find(|(known, _)| *known == ways) {
            Some((_, whats)) => whats.push(fault.what),
            None => places.push((ways, vec![fault.what])),
        }
        if !remedies.contains(&fault.help) {
            remedies.push(fault.help);
        }
    }
    let told = places.iter().map(|(ways, whats)| format!("{}{ways}", whats.join("\nalso "))).collect::<Vec<_>>().join("\nalso ");
    let remedies: String = remedies.iter().map(|help| format!("\nhelp: {help}")).collect();
    let descriptor = &kernel.descriptor;
    (!told.is_empty()).then(|| KernelFault {
        kernel: descriptor.name.clone(),
        file: descriptor.file.clone(),
        line: descriptor.line,
        message: format!("kernel `{}`: {told}{remedies}", kernel.name),
    })
}

fn is_std(frame: &Frame) -> bool {
    frame.line == 0 || frame.file.starts_with("library/") || frame.file.starts_with("/rustc/")
}

/// Block-shared memory that one kernel has been seen to use.
#[derive(Default)]
struct Shared<'c> {
    seen: HashSet<Value<'c>>,
    bytes: u64,
}

impl<'c> Shared<'c> {
    fn of(&mut self, constants: &Constants, value: Value<'c>) -> Option<Fault> {
        let global = value.as_global().filter(|global| is_shared(*global))?;
        let path = path_of(&value.name());
        if global.get_initializer().is_some_and(|initial| !Value::from(initial).is_undef()) {
            return Some(Fault::new(
                format!("declares block-shared memory `{path}` with an initial value, which no device gives it"),
                "declare it with `device!(shared: [T; N])`, write it, and wait at the barrier before the first read",
            ));
        }
        if !self.seen.insert(value) {
            return None;
        }
        let before = self.bytes;
        self.bytes += constants.size_of(global);
        (before <= SHARED_BYTES && self.bytes > SHARED_BYTES).then(|| {
            Fault::new(
                format!("declares {} bytes or more of block-shared memory; a block has {SHARED_BYTES}", self.bytes),
                "use smaller tiles, or keep part of the data in a buffer",
            )
        })
    }
}

fn of_reference(global: Value) -> Option<Fault> {
    if let Some(function) = global.as_function() {
        return if function.count_basic_blocks() == 0 { of_undefined(function) } else { None };
    }
    match global.as_global() {
        Some(global) => of_global(global),
        None => Some(Fault::new(
            format!("`{}` is a function whose body is chosen when the program starts", path_of(&global.name())),
            "call the implementation itself",
        )),
    }
}

fn of_undefined(function: FunctionValue) -> Option<Fault> {
    let symbol = Value::from(function).name();
    if function.get_intrinsic_id() != 0 || symbol.starts_with("llvm.") {
        return of_intrinsic(&symbol);
    }
    if symbol == intrinsic::NEEDS_LAUNCH {
        return Some(Fault::new(
            "calls a generic kernel as a function whose `host!` depends on a generic parameter: the value comes with that kernel's own launch",
            "move what both do into a function that takes the value as an argument",
        ));
    }
    if is_ours(&symbol) || MEMORY.contains(&symbol.as_str()) {
        return None;
    }
    let path = path_of(&symbol);
    let of_std = ["std::", "<std::", "<alloc::sync::Arc<std::"].iter().any(|start| path.starts_with(start)) || path.contains(" as std::");
    let allocates = path.starts_with("__rustc::__r") || path.starts_with("alloc::alloc::") || path.starts_with("alloc::raw_vec::");
    Some(if allocates {
        Fault::new("allocates memory, and there is no allocator on the device", "use fixed-size arrays, or pass a buffer to the kernel")
    } else if of_std {
        Fault::new(
            format!("calls `{path}`, which belongs to the host's operating system"),
            "call it on the host and pass the result, as a parameter or through `host!(…)`",
        )
    } else if is_libm(&symbol) || symbol.starts_with(MATH_PREFIX) {
        Fault::new(
            format!("calls the C library's `{}`, which is not yet supported on the device", symbol.trim_start_matches(MATH_PREFIX)),
            "compute it on the host (a `DeviceTable`), or use the functions of the `libm` crate",
        )
    } else {
        Fault::new(
            format!("calls `{path}`, which has no body for the device"),
            "write it in Rust, or call it on the host and pass the result, as a parameter or through `host!(…)`",
        )
    })
}

fn is_libm(symbol: &str) -> bool {
    let base = symbol.strip_suffix('f').unwrap_or(symbol);
    MATH.contains(&base) || ["cbrt", "hypot", "expm1", "log1p", "asinh", "acosh", "atanh", "tgamma", "lgamma_r"].contains(&base)
}

fn of_intrinsic(name: &str) -> Option<Fault> {
    if let Some(rest) = name.strip_prefix("llvm.x86.") {
        return (name != PAUSE).then(|| {
            Fault::new(
                format!("uses the x86 instruction `{rest}`"),
                "use portable code on the device, for instance under `cfg(not(relocgpu_device))`",
            )
        });
    }
    let operation = name.strip_prefix("llvm.")?.split('.').next()?;
    if MATH.contains(&operation) {
        return Some(Fault::new(
            format!("uses the float function `{operation}`, which is not yet supported on the device"),
            "compute it on the host (a `DeviceTable`), or use the functions of the `libm` crate",
        ));
    }
    None
}

fn of_global(global: GlobalValue) -> Option<Fault> {
    let symbol = Value::from(global).name();
    if let Some(reference) = Reference::parse(&symbol) {
        return reference
            .target()
            .err()
            .map(|what| Fault::new(format!("holds a damaged host reference: {what}"), "use one version of relocgpu's crates"));
    }
    let path = path_of(&symbol);
    if global.is_thread_local() {
        return Some(Fault::new(
            format!("uses the thread-local `{path}`, which belongs to the host's threads"),
            "pass the value, as a parameter or through `host!(…)`",
        ));
    }
    if global.get_initializer().is_none() {
        return Some(Fault::new(
            format!("uses the static `{path}`, whose value is not known when the kernel is built"),
            "pass its value, as a parameter or through `host!(…)`",
        ));
    }
    if is_shared(global) || global.is_constant() {
        return None;
    }
    Some(Fault::new(
        format!("uses `{path}`, a static that can change: on the device it would be another one than on the host"),
        "pass a buffer to the kernel, read the host's value through `host!(…)`, or declare block-shared memory with `device!(shared: …)`",
    ))
}

fn of_instruction(instruction: Value) -> Option<Fault> {
    if let Some((template, _)) = instruction.called().and_then(Value::as_asm) {
        // `black_box` and compiler fences are empty assembly.
        return (!template.trim().is_empty()).then(|| {
            Fault::new(
                format!("uses the host's assembly (`asm!(\"{}\")`)", template.trim().replace('\n', "; ")),
                "use portable code on the device, for instance under `cfg(not(relocgpu_device))`",
            )
        });
    }
    let wide = |value: Value| value.int_bits().is_some_and(|bits| bits > 64);
    if instruction.is_atomic() && (wide(instruction) || instruction.operands().into_iter().any(wide)) {
        return Some(Fault::new("uses an atomic operation of more than 64 bits", "use 32- or 64-bit atomics"));
    }
    match instruction.opcode()? {
        LLVMOpcode::LLVMIndirectBr => Some(Fault::new("jumps to a computed address", "use portable code on the device")),
        _ => None,
    }
}
