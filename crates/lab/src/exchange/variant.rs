//! The ways in which records and results can travel.

use std::fmt;
use std::str::FromStr;

/// How ranks know that what was put is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sync {
    /// `MPI_Win_fence`: all wait for all.
    Fence,
    /// Post, start, complete, wait: each waits for those that it has to do with.
    Pscw,
    /// A lock from beginning to end, a flush, and a flag that the other side looks at.
    Flush,
}

/// A way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Variant {
    /// Put into memory of the others.
    OneSided {
        /// How they know.
        sync: Sync,
        /// A window for each rank that puts, and not one for all.
        window_per_rank: bool,
    },
    /// Sent to all others, who merge by themselves: as `zerohop search` does it.
    TwoSided,
    /// Sent to rank 0, which merges and says who shall send it what: what the others are compared with.
    Master,
}

impl Variant {
    /// All of them.
    pub const ALL: [Variant; 8] = [
        Variant::OneSided { sync: Sync::Fence, window_per_rank: false },
        Variant::OneSided { sync: Sync::Fence, window_per_rank: true },
        Variant::OneSided { sync: Sync::Pscw, window_per_rank: false },
        Variant::OneSided { sync: Sync::Pscw, window_per_rank: true },
        Variant::OneSided { sync: Sync::Flush, window_per_rank: false },
        Variant::OneSided { sync: Sync::Flush, window_per_rank: true },
        Variant::TwoSided,
        Variant::Master,
    ];
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Variant::OneSided { sync: Sync::Fence, window_per_rank: false } => "fence",
            Variant::OneSided { sync: Sync::Fence, window_per_rank: true } => "fence-windows",
            Variant::OneSided { sync: Sync::Pscw, window_per_rank: false } => "pscw",
            Variant::OneSided { sync: Sync::Pscw, window_per_rank: true } => "pscw-windows",
            Variant::OneSided { sync: Sync::Flush, window_per_rank: false } => "flush",
            Variant::OneSided { sync: Sync::Flush, window_per_rank: true } => "flush-windows",
            Variant::TwoSided => "two-sided",
            Variant::Master => "master",
        };
        f.write_str(name)
    }
}

impl FromStr for Variant {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named = Variant::ALL.into_iter().find(|variant| variant.to_string() == text);
        named.ok_or_else(|| {
            let names: Vec<String> = Variant::ALL.iter().map(ToString::to_string).collect();
            format!("there is no variant '{text}': there are {}", names.join(", "))
        })
    }
}
