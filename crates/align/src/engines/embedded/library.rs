//! Of which kind of bisulfite library the reads of a lane are: as the user says, or as the first ones look.

use crate::job::AlignError;
use zerohop_input::{BisulfiteLibrary, ConvertedReads, OpenLane, UnknownLibrary};

/// Finds out, and tells the lane; what the user should know goes to `notes`.
///
/// # Errors
/// A file that cannot be read; reads of no kind that is aligned.
pub fn find(lane: &mut OpenLane, wanted: Option<BisulfiteLibrary>, notes: &mut Vec<String>) -> Result<(), AlignError> {
    let library = match wanted {
        Some(library) => library,
        None => {
            let found = lane.converted_reads()?;
            let library = found.library().map_err(|why| AlignError::Usage(refusal(lane, found, why)))?;
            if library == BisulfiteLibrary::Pbat {
                notes.push(format!("{}, as of a library made by PBAT: mates are exchanged.", words(lane, found)));
            }
            library
        }
    };
    if library == BisulfiteLibrary::Pbat && !lane.is_paired() {
        return Err(AlignError::Usage(format!(
            "{}: of libraries made by PBAT pairs alone are aligned. The reverse complements of these reads are aligned \
             as reads of a directional library (--library directional)",
            name(lane)
        )));
    }
    lane.of_library(library);
    Ok(())
}

fn refusal(lane: &OpenLane, found: ConvertedReads, why: UnknownLibrary) -> String {
    match why {
        UnknownLibrary::NotConverted => format!(
            "{}: they seem to be of no bisulfite or EM-seq library. Align them without --meth, or say of which kind of \
             library they are (--library)",
            words(lane, found)
        ),
        UnknownLibrary::NonDirectional => format!(
            "{}, as of a non-directional library, which is not aligned. If they are of another kind, name it \
             (--library)",
            words(lane, found)
        ),
    }
}

fn name(lane: &OpenLane) -> impl std::fmt::Display {
    lane.paths().next().map(|path| path.display().to_string()).unwrap_or_default()
}

fn words(lane: &OpenLane, found: ConvertedReads) -> String {
    let percent = |reads: usize| format!("{:.0} %", 100.0 * reads as f64 / found.reads.max(1) as f64);
    format!(
        "{}: of the first reads {} have hardly a C, {} hardly a G",
        name(lane),
        percent(found.c_to_t),
        percent(found.g_to_a)
    )
}
