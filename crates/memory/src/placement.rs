//! The placement under which the current thread allocates.

use crate::census::{Census, CensusError, census_with};
use crate::id::PlacementId;
use crate::mask::NodeMask;
use crate::policy::{self, Mode, TaskPolicy};
use crate::refusals::{Refusals, RefusedCall};
use crate::system;
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering::Relaxed};
use zerohop_model::plan::{HugePages, Pages, Placement};

/// All that the allocator needs to know of a placement, at an address that stays.
#[derive(Debug)]
struct Registered {
    id: PlacementId,
    mode: Mode,
    mask: NodeMask,
    huge_pages: HugePages,
    /// The placement for people: "local to node 3".
    words: String,
    refusals: Refusals,
}

thread_local! {
    /// Constant at the start and without a destructor: the allocator reads it at any time in a thread's life, also
    /// before and after all other thread-locals, and reading must not allocate.
    static CURRENT: Cell<Option<&'static Registered>> = const { Cell::new(None) };
}

/// What the kernel refused for blocks outside any placement.
static UNPLACED_REFUSALS: Refusals = Refusals::new();

/// 0: the system's setting; otherwise a [`HugePages`].
static DEFAULT_HUGE_PAGES: AtomicU8 = AtomicU8::new(0);

/// Whether we have switched huge pages off for the process.
static SWITCHED_OFF: AtomicBool = AtomicBool::new(false);

/// Whether large blocks outside any placement ask for huge pages. Until this is called they have the system's setting.
/// `Off` is for the whole process: a library that asks for huge pages by itself gets none either.
pub fn set_default_huge_pages(huge_pages: HugePages) {
    let number = match huge_pages {
        HugePages::Auto => 1,
        HugePages::Off => 2,
    };
    DEFAULT_HUGE_PAGES.store(number, Relaxed);
    // Who has started this process may have switched them off for it: that stays.
    let switch = match huge_pages {
        HugePages::Auto => SWITCHED_OFF.swap(false, Relaxed),
        HugePages::Off => system::huge_pages_are_allowed() && !SWITCHED_OFF.swap(true, Relaxed),
    };
    if switch {
        UNPLACED_REFUSALS.note(RefusedCall::SwitchHugePages, &system::switch_huge_pages(huge_pages));
    }
}

fn default_huge_pages() -> Option<HugePages> {
    match DEFAULT_HUGE_PAGES.load(Relaxed) {
        1 => Some(HugePages::Auto),
        2 => Some(HugePages::Off),
        _ => None,
    }
}

/// What the kernel refused for large blocks outside any placement, a sentence each.
pub fn unplaced_refused() -> Vec<String> {
    UNPLACED_REFUSALS.sentences("blocks without placement")
}

/// A placement that blocks can be allocated under. Copies are the same placement.
#[derive(Debug, Clone, Copy)]
pub struct Placed {
    registered: &'static Registered,
}

impl Placed {
    /// Registers a placement under a new id.
    ///
    /// The some hundred bytes of it stay until the process ends: a block outlives any owner that could be named here,
    /// and a run has one placement per index copy.
    pub fn new(placement: &Placement) -> Self {
        let mode = match placement.pages {
            Pages::Local => Mode::Prefer,
            Pages::Interleave => Mode::Interleave,
            Pages::FirstTouch => Mode::FirstTouch,
            Pages::LocalAlloc => Mode::LocalAlloc,
        };
        let registered = Registered {
            id: PlacementId::fresh(),
            mode,
            mask: NodeMask::new(&placement.nodes),
            huge_pages: placement.huge_pages,
            words: words(placement),
            refusals: Refusals::new(),
        };
        Self { registered: Box::leak(Box::new(registered)) }
    }

    /// The number that its blocks carry.
    pub fn id(&self) -> PlacementId {
        self.registered.id
    }

    /// Runs `f` with this placement in force on the calling thread.
    pub fn run<T>(&self, f: impl FnOnce() -> T) -> T {
        let _entered = self.enter();
        f()
    }

    /// Puts this placement in force on the calling thread until the guard is dropped.
    ///
    /// Threads spawned meanwhile inherit the task's memory policy, which is enough to place their pages, but not the
    /// mark by which [`Placed::census`] finds their blocks, nor the wish for huge pages: they enter it themselves.
    /// Guards that are nested are to be dropped in the reverse order.
    pub fn enter(&self) -> EnteredPlacement {
        let refusals = &self.registered.refusals;
        let former_policy = TaskPolicy::of_this_thread();
        let set = TaskPolicy::new(self.registered.mode, &self.registered.mask).set();
        refusals.note(RefusedCall::SetTaskPolicy, &set);
        let restore = set.is_ok().then(|| {
            former_policy.unwrap_or_else(|error| {
                refusals.note(RefusedCall::ReadTaskPolicy, &Err(error));
                TaskPolicy::new(Mode::FirstTouch, &NodeMask::EMPTY)
            })
        });
        let former = CURRENT.replace(Some(self.registered));
        EnteredPlacement { placed: *self, former, restore, on_this_thread: PhantomData }
    }

    /// What the kernel refused so far, a sentence each; empty when all went as wanted.
    pub fn refused(&self) -> Vec<String> {
        self.registered.refusals.sentences(&self.registered.words)
    }

    /// Where the live large blocks lie that were allocated under this placement.
    ///
    /// # Errors
    /// As [`census_of`](crate::census_of).
    pub fn census(&self) -> Result<Census, CensusError> {
        self.census_with(&[])
    }

    /// The same, with these ranges (address, bytes), which another allocator has given.
    ///
    /// # Errors
    /// As for [`Placed::census`].
    pub fn census_with(&self, foreign: &[(usize, usize)]) -> Result<Census, CensusError> {
        census_with(self.id(), foreign)
    }
}

impl fmt::Display for Placed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.registered.words)
    }
}

/// Keeps a placement in force on the thread that entered it, and puts the former one back when dropped.
#[derive(Debug)]
pub struct EnteredPlacement {
    placed: Placed,
    former: Option<&'static Registered>,
    /// The policy to set back; none when this placement's own could not be set.
    restore: Option<TaskPolicy>,
    /// Thread-local state: a guard dropped on another thread would spoil that one and leave this.
    on_this_thread: PhantomData<*const ()>,
}

impl Drop for EnteredPlacement {
    fn drop(&mut self) {
        CURRENT.set(self.former);
        if let Some(policy) = &self.restore {
            self.placed.registered.refusals.note(RefusedCall::RestoreTaskPolicy, &policy.set());
        }
    }
}

/// Runs `f` with a placement in force on this thread; also returns what the kernel refused, a sentence each.
///
/// ```
/// use zerohop_model::machine::NodeId;
/// use zerohop_model::plan::{HugePages, Pages, Placement};
/// let placement = Placement { nodes: vec![NodeId(0)], pages: Pages::Local, huge_pages: HugePages::Auto };
/// let (index, refused) = zerohop_memory::with_placement(&placement, || vec![0u8; 100]);
/// assert_eq!(index.len(), 100);
/// refused.iter().for_each(|sentence| eprintln!("{sentence}"));
/// ```
pub fn with_placement<T>(placement: &Placement, f: impl FnOnce() -> T) -> (T, Vec<String>) {
    let placed = Placed::new(placement);
    let result = placed.run(f);
    (result, placed.refused())
}

/// Gives a fresh mapping the calling thread's placement and returns what to mark it with. For the allocator: this does
/// not allocate.
pub(crate) fn settle(address: usize, bytes: usize) -> PlacementId {
    let Some(current) = CURRENT.get() else {
        if let Some(huge_pages) = default_huge_pages() {
            UNPLACED_REFUSALS
                .note(RefusedCall::AdviseHugePages, &system::advise_huge_pages(address, bytes, huge_pages));
        }
        return PlacementId::UNPLACED;
    };
    if current.mode != Mode::FirstTouch {
        let bound = policy::bind_range(address, bytes, current.mode, &current.mask);
        current.refusals.note(RefusedCall::BindBlock, &bound);
    }
    let advised = system::advise_huge_pages(address, bytes, current.huge_pages);
    current.refusals.note(RefusedCall::AdviseHugePages, &advised);
    current.id
}

/// What blocks of the calling thread are marked with.
pub(crate) fn current_id() -> PlacementId {
    CURRENT.get().map_or(PlacementId::UNPLACED, |current| current.id)
}

fn words(placement: &Placement) -> String {
    let nodes: Vec<String> = placement.nodes.iter().map(ToString::to_string).collect();
    let nodes = match nodes.as_slice() {
        [] => "no node".to_owned(),
        [node] => format!("node {node}"),
        nodes => format!("nodes {}", nodes.join(",")),
    };
    match placement.pages {
        Pages::Local => format!("local to {nodes}"),
        Pages::Interleave => format!("interleave over {nodes}"),
        Pages::FirstTouch => "first touch".to_owned(),
        Pages::LocalAlloc => "local allocation".to_owned(),
    }
}
