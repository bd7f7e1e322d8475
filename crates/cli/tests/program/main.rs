//! What the program says to what it is given: tables of arguments and files, with the exact words.
#![allow(clippy::unwrap_used)]

mod bad_input;
mod many_lanes;
mod table;
mod usage;
