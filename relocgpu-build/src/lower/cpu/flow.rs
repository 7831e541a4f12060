//! The barriers of a function, and which of its blocks come after which.

use crate::llvm::edit::{self, successors};
use crate::llvm::{self, Value};
use crate::symbols::calls;
use inkwell::basic_block::BasicBlock;
use inkwell::values::FunctionValue;
use relocgpu_runtime::contract::names::intrinsic::BLOCK_BARRIER;
use std::collections::{HashMap, HashSet};

/// A barrier: the block that ends with it, and the one behind it.
#[derive(Clone, Copy)]
pub(super) struct Barrier<'c> {
    pub(super) before: BasicBlock<'c>,
    pub(super) behind: BasicBlock<'c>,
}

/// Gives each barrier the end of a block. A thread that gets behind one has passed it: its result is 0.
pub(super) fn barriers<'c>(function: FunctionValue<'c>) -> Option<Vec<Barrier<'c>>> {
    let found: Vec<_> = llvm::instructions(function).into_iter().filter(|i| calls(*i, BLOCK_BARRIER)).collect();
    let context = function.get_type().get_context();
    let each = |call: Value<'c>| {
        let behind = call.block()?;
        let before = edit::split_after(call)?;
        call.replace_uses(context.i32_type().const_zero().into());
        call.erase();
        Some(Barrier { before, behind })
    };
    found.into_iter().map(each).collect()
}

/// Which blocks come after which.
pub(super) struct Flow<'c> {
    barriers: Vec<Barrier<'c>>,
    reach: HashMap<BasicBlock<'c>, HashSet<BasicBlock<'c>>>,
}

impl<'c> Flow<'c> {
    pub(super) fn of(function: FunctionValue<'c>, barriers: &[Barrier<'c>]) -> Self {
        let reach = function.get_basic_blocks().into_iter().map(|block| (block, from(block, |_| false))).collect();
        Self { barriers: barriers.to_vec(), reach }
    }

    fn reaches(&self, a: BasicBlock<'c>, b: BasicBlock<'c>) -> bool {
        self.reach.get(&a).is_some_and(|blocks| blocks.contains(&b))
    }

    /// Whether a barrier can come between something in block `made` and something in block `used`.
    pub(super) fn crosses(&self, made: BasicBlock<'c>, used: BasicBlock<'c>) -> bool {
        self.barriers.iter().any(|b| self.reaches(made, b.before) && self.reaches(b.behind, used))
    }

    /// The barriers in the order in which every thread that comes to one comes to them.
    pub(super) fn chain(&self, entry: BasicBlock<'c>) -> Option<Vec<Barrier<'c>>> {
        let mut order: Vec<Barrier<'c>> = Vec::new();
        let mut start = entry;
        loop {
            let near = from(start, |block| self.barriers.iter().any(|b| b.before == block));
            let mut next = self.barriers.iter().filter(|b| near.contains(&b.before));
            match (next.next(), next.next()) {
                (Some(barrier), None) if !order.iter().any(|b| b.before == barrier.before) => {
                    order.push(*barrier);
                    start = barrier.behind;
                }
                (None, _) => return (order.len() == self.barriers.len()).then_some(order),
                _ => return None,
            }
        }
    }
}

/// A block and all that come after it, not looking behind those where `stop`.
fn from<'c>(block: BasicBlock<'c>, stop: impl Fn(BasicBlock<'c>) -> bool) -> HashSet<BasicBlock<'c>> {
    let mut seen = HashSet::from([block]);
    let mut open = vec![block];
    while let Some(block) = open.pop() {
        if !stop(block) {
            open.extend(successors(block).into_iter().filter(|next| seen.insert(*next)));
        }
    }
    seen
}
