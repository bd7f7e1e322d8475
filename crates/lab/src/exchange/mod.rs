//! The exchange of results between ranks, measured with [searches](Searches) that are made up or were recorded: nobody
//! searches, so there may be more ranks than cores. [`model`] says how long an exchange over more ranks would take, fed
//! with what [`calibrate`](fn@calibrate) measures.

mod calibrate;
pub mod model;
mod searches;

pub use calibrate::calibrate;
pub use searches::Searches;
