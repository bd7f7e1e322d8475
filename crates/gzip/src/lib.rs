//! gzip (RFC 1952), inflated from the middle: many threads inflate pieces of one file, and the pieces are put together
//! afterwards.
//!
//! A deflate block is compressed against the 32 KiB of text before it, its *window*, and says nowhere how long it is.
//! So (Knespel & Brunst 2023, "Rapidgzip", HPDC '23, doi 10.1145/3588195.3592992; Kerbiriou & Chikhi 2019, "pugz")
//!
//! 1. [`find_block`] looks for a block from any bit on. The codes of a block must be complete, so hardly anything else
//!    looks like one.
//! 2. [`inflate_unknown`] inflates from there without the window. A byte that is copied out of the window becomes a
//!    mark.
//! 3. [`Unresolved::window`] tells the window behind a piece from that before it. Only that goes from piece to piece,
//!    one after the other, and takes microseconds.
//! 4. [`Unresolved::resolve`] puts bytes for marks, when the window is known.
//!
//! Where the window is known already, [`inflate`] does all at once. [`Inflated::parts`] computes the CRCs, and
//! [`Member`] checks them in order.
//!
//! A piece ends where [`find_block`] finds a block, so the next one fits. If it found a false block, the next piece is
//! inflated again from the right [`Place`]. A piece also ends where there is enough text, however few bytes of the file
//! that took.
//!
//! [`is_member`] looks at the first bytes of anything; BGZF is gzip, too.
//!
//! What it refuses to do: read a file, start a thread, or judge what follows the last member.
#![forbid(unsafe_code)]

mod bits;
mod block;
mod check;
mod code;
mod fault;
mod find;
mod inflate;
mod member;
mod output;
mod piece;
mod place;

pub use check::{Member, MemberPart};
pub use fault::GzipFault;
pub use find::find_block;
pub use member::{MAGIC, is_member};
pub use output::WINDOW;
pub use piece::{End, Inflated, PieceLimits, Unresolved, inflate, inflate_unknown};
pub use place::{Compressed, Place};

/// With so many bytes of data from a place on, [`inflate`] always makes progress.
pub const ENOUGH: usize = 1 << 18;
const _: () = assert!(ENOUGH > member::LONGEST_HEADER + 16);
