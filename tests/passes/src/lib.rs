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
//! | `record: LINE` | the records, one a line as `name symbol source`, have this line |
//! | `location: LINE` | the panic locations, one a line as `file:line:column`, have this line |
//! | `kernel: LINE` | the kernels, one a line as `name size align [panics] [cooperates]`, have this line |
//! | `reads: LINE` | the kernels with what they read, one a line as `name site site …` in manifest order, have this line |
//! | `interior: GLOBAL OFFSET` | the unit may get a record of the word there; it comes before what is lowered |
//! | `interior-not: GLOBAL OFFSET` | validation refuses such a record |
//! | `same-unit-as: FILE` | the other case gives the same unit hash and other panic locations |
//! | `fault: TEXT` | a line of the faults; with it the case must give exactly these lines |
//! | `refused: TEXT` | a stage after the faults refuses the case, and says it |
//! | `delivery: NAME` | for `table` or `bake`; `patch` otherwise |
//! | `nothing` | there is no kernel |
//! | `arch: N` | lower for `sm_N` instead of `sm_75` |
//!
//! Where ptxas is installed it assembles the PTX of every case that gives one.

mod case;
mod compile;

pub use case::Case;
pub use compile::{Compiler, sysroot_libraries};
