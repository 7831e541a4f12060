//! Tests of the stages from bitcode to PTX, each a text file in `cases/` with what is expected of it.
//!
//! A case is Rust, compiled as the device pass compiles it, or LLVM IR. Lines that begin with `//@` or `;@` say what to
//! expect; `PASSES_BLESS=1` rewrites the faults that a case expects.
//!
//! | directive | holds if |
//! |---|---|
//! | `unit: TEXT` | the frozen unit's IR contains it |
//! | `ptx: TEXT` | the PTX contains it |
//! | `ptx-not: TEXT` | the PTX does not contain it |
//! | `ptx-count: N TEXT` | the PTX contains it so many times |
//! | `record: TEXT` | the records, one a line as `name symbol source`, contain it |
//! | `location: TEXT` | the panic locations, one a line as `file:line:column`, contain it |
//! | `kernel: TEXT` | the kernels, one a line as `name size align [panics] [cooperates]`, contain it |
//! | `same-unit-as: FILE` | the other case gives the same unit hash and other panic locations |
//! | `fault: TEXT` | a line of the faults; with it the case must give exactly these lines |
//! | `nothing` | there is no kernel |
//! | `arch: N` | lower for `sm_N` instead of `sm_75` |

mod case;
mod compile;
mod ptxas;

pub use case::{Case, run};
pub use compile::{Compiler, sysroot_libraries};
pub use ptxas::assemble;
