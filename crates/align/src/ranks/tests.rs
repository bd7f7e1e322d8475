//! Threads of a rank that end together, whichever of them panics.

use super::part::RankPart;
use super::together::EnteredWhen;
use crate::job::AlignError;
use crate::open::output::SharedOutput;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use zerohop_model::engine::Cut;
use zerohop_model::source::{Grant as _, Granted};
use zerohop_ranks::deal::Dealing;
use zerohop_ranks::journal::{self, Journal};
use zerohop_ranks::transport::Window;
use zerohop_ranks::{Reach, Transport, TransportError, Twin};
use zerohop_runtime::Grains;

/// A rank that panics where it begins to deal, or deals.
struct Dealer {
    twin: Twin,
    panics: bool,
}

impl Transport for Dealer {
    fn rank(&self) -> usize {
        self.twin.rank()
    }
    fn size(&self) -> usize {
        self.twin.size()
    }
    fn name(&self) -> String {
        self.twin.name()
    }
    fn barrier(&self) -> Result<(), TransportError> {
        self.twin.barrier()
    }
    fn all_gather(&self, mine: &[u8]) -> Result<Vec<Vec<u8>>, TransportError> {
        self.twin.all_gather(mine)
    }
    fn send(&self, to: usize, tag: u32, bytes: Vec<u8>) -> Result<(), TransportError> {
        self.twin.send(to, tag, bytes)
    }
    fn try_receive(&self, from: usize, tag: u32) -> Result<Option<Vec<u8>>, TransportError> {
        self.twin.try_receive(from, tag)
    }
    fn window(&self, bytes: usize, reach: Reach) -> Result<Box<dyn Window + '_>, TransportError> {
        assert!(!self.panics, "made up");
        self.twin.window(bytes, reach)
    }
    fn poll(&self) -> Result<(), TransportError> {
        self.twin.poll()
    }
    fn limit(&self) -> Duration {
        self.twin.limit()
    }
}

/// What a run comes to that waits until there is no more to do.
fn together(dealer_panics: bool, run_panics: bool) -> std::thread::Result<Result<(), AlignError>> {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out.sam");
    std::fs::create_dir(journal::folder(&output)).unwrap();
    let (journal, finished) = Journal::open(&output, 0).unwrap();
    let dealer = Dealer { twin: Twin::alone(Duration::from_secs(60)), panics: dealer_panics };
    let shared = SharedOutput { folder: PathBuf::new(), partials: Vec::new(), kept: None, ranks_here: 1 };
    let (given_up, owner, tables, grains) = (Vec::new(), None, None, Arc::new(Grains::new(1)));
    let (transport, paths, cut, workers) = (&dealer as &dyn Transport, vec![output.clone()], Cut::at(1), 1);
    let mut rank = RankPart {
        transport,
        paths,
        output: shared,
        given_up,
        owner,
        journal,
        finished,
        tables,
        cut,
        workers,
        grains: Arc::clone(&grains),
        dealt: None,
    };
    let dealing = Dealing { files: 1, first: 0, offsets: Some(vec![0]), chunks: Some(0), most: 1, ahead: 1 };
    let body = || {
        assert!(!run_panics, "made up");
        while grains.granted(0) == Granted::NotYet {
            std::thread::yield_now();
        }
        Ok(())
    };
    catch_unwind(AssertUnwindSafe(|| rank.together(&dealing, &grains, EnteredWhen::Nothing, body).map(drop)))
}

#[test]
fn all_threads_of_a_rank_end_where_one_panics() {
    assert!(together(false, false).unwrap().is_ok());
    assert!(together(false, true).unwrap().unwrap_err().to_string().contains("died"));
    assert!(together(true, false).is_err(), "the panic goes on");
}
