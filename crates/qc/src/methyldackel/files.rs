//! Lines of cytosines, out of parts of the output that are known in any order.

use super::calls::Site;
use super::spec::{MethylDackel, MethylDackelSpec, NAMES, SiteColumns};
use crate::depth::{Place, split};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::ops::Range;
use zerohop_model::error::Error;
use zerohop_model::record::Contig;
use zerohop_output::LineFile;

/// Of both strands together, how many places a CpG and a CHG have.
const WIDTHS: [u32; 3] = [2, 3, 1];

/// The lines of one part, by context.
#[derive(Debug, Default)]
pub(crate) struct PartOfSites([OfContext; 3]);

/// Lines of one context, and both ends of the part: of its cytosines those whose other strand lies in another part.
#[derive(Debug, Default)]
struct OfContext {
    leading: Vec<Merged>,
    text: Vec<u8>,
    trailing: Vec<Merged>,
    /// Where the next part begins.
    end: Place,
}

/// A cytosine, or both of a CpG or CHG.
#[derive(Debug, Clone, Copy)]
struct Merged {
    place: Place,
    is_top: bool,
    methylated: u32,
    converted: u32,
}

impl PartOfSites {
    /// The lines of these cytosines, which are all of some places.
    pub(crate) fn new(sites: &[Site], places: &Range<Place>, contigs: &[Contig], spec: &MethylDackelSpec) -> Self {
        let mut part = PartOfSites::default();
        for (context, of_context) in part.0.iter_mut().enumerate() {
            of_context.end = places.end;
            let width = width(context, spec);
            let mut merged: BTreeMap<Place, Merged> = BTreeMap::new();
            for site in sites.iter().filter(|site| usize::from(site.context) == context) {
                let place = if site.is_top { site.place } else { site.place.saturating_sub((width - 1).into()) };
                let Site { is_top, methylated, converted, .. } = *site;
                let more = Merged { place, is_top, methylated, converted };
                merged.entry(place).and_modify(|both| both.add(&more)).or_insert(more);
            }
            for site in merged.into_values() {
                if site.place < places.start {
                    of_context.leading.push(site);
                } else if site.place + Place::from(width) > places.end {
                    of_context.trailing.push(site);
                } else {
                    site.write(&mut of_context.text, width, contigs, spec);
                }
            }
        }
        part
    }
}

/// How many places a line has.
fn width(context: usize, spec: &MethylDackelSpec) -> u32 {
    if spec.merges { WIDTHS[context] } else { 1 }
}

impl Merged {
    fn add(&mut self, more: &Merged) {
        self.methylated += more.methylated;
        self.converted += more.converted;
    }

    /// Its line, if enough bases lie on it (`writeCall` of extract.c).
    fn write(&self, out: &mut Vec<u8>, width: u32, contigs: &[Contig], spec: &MethylDackelSpec) {
        let Merged { place, is_top, methylated, converted } = *self;
        let (contig, position) = split(place);
        let all = methylated + converted;
        let Some(name) = contigs.get(contig as usize).map(|contig| &*contig.name).filter(|_| all >= spec.least_depth)
        else {
            return;
        };
        let (end, share) = (position + width, |part: u32| f64::from(part) / f64::from(all));
        // Writing to memory cannot fail.
        let _ = match spec.columns {
            SiteColumns::Percent => {
                let percent = (100.0 * f64::from(methylated) / f64::from(all)) as u32;
                writeln!(out, "{name}\t{position}\t{end}\t{percent}\t{methylated}\t{converted}")
            }
            SiteColumns::Fraction => writeln!(out, "{name}\t{position}\t{end}\t{:.6}", share(methylated)),
            SiteColumns::Counts => writeln!(out, "{name}\t{position}\t{end}\t{all}"),
            SiteColumns::MethylKit => {
                let (first, strand) = (position + 1, if is_top { 'F' } else { 'R' });
                let [c, t] = [methylated, converted].map(|part| 100.0 * f64::from(part) / f64::from(all));
                writeln!(out, "{name}.{first}\t{name}\t{first}\t{strand}\t{all}\t{c:6.2}\t{t:6.2}")
            }
        };
    }
}

/// Puts the lines of all parts together, in the order of the parts.
pub(crate) struct SiteFiles {
    next: usize,
    waiting: BTreeMap<usize, PartOfSites>,
    /// A file of each context that is told of.
    files: Vec<(usize, LineFile)>,
    /// Cytosines of which the next part may have the other strand.
    open: [BTreeMap<Place, Merged>; 3],
}

impl SiteFiles {
    /// Files of no lines yet, but for the first one.
    ///
    /// # Errors
    /// [`Error::Output`].
    pub(crate) fn new(what: &MethylDackel, files: Vec<LineFile>) -> Result<Self, Error> {
        let mut files: Vec<(usize, LineFile)> = what.spec.told().zip(files).collect();
        for (context, file) in &mut files {
            file.put(heading(what, NAMES[*context]).as_bytes())?;
        }
        Ok(SiteFiles { next: 0, waiting: BTreeMap::new(), files, open: Default::default() })
    }

    /// Adds those of part `number`.
    ///
    /// # Errors
    /// [`Error::Output`].
    pub(crate) fn put(
        &mut self,
        number: usize,
        part: PartOfSites,
        contigs: &[Contig],
        spec: &MethylDackelSpec,
    ) -> Result<(), Error> {
        self.waiting.insert(number, part);
        while let Some(mut part) = self.waiting.remove(&self.next) {
            self.next += 1;
            for (context, file) in &mut self.files {
                let OfContext { leading, text, trailing, end } = std::mem::take(&mut part.0[*context]);
                let (open, width) = (&mut self.open[*context], width(*context, spec));
                let mut add = |site: Merged| {
                    open.entry(site.place).and_modify(|both| both.add(&site)).or_insert(site);
                };
                leading.into_iter().for_each(&mut add);
                trailing.into_iter().for_each(&mut add);
                // Those that end in this part, and so are complete, lie before all others of it.
                let still = open.split_off(&(end + 1).saturating_sub(width.into()));
                let mut lines = Vec::new();
                std::mem::replace(open, still).values().for_each(|site| site.write(&mut lines, width, contigs, spec));
                file.put(&lines)?;
                file.put(&text)?;
            }
        }
        Ok(())
    }

    /// All files, when all parts are there.
    ///
    /// # Errors
    /// [`Error::Output`].
    pub(crate) fn finish(self, contigs: &[Contig], spec: &MethylDackelSpec) -> Result<Vec<LineFile>, Error> {
        let SiteFiles { files, open, .. } = self;
        let end = |(context, mut file): (usize, LineFile)| {
            let mut lines = Vec::new();
            open[context].values().for_each(|site| site.write(&mut lines, width(context, spec), contigs, spec));
            file.put(&lines)?;
            Ok(file)
        };
        files.into_iter().map(end).collect()
    }
}

/// The first line of a file (`printHeader` of extract.c).
fn heading(MethylDackel { spec, prefix, .. }: &MethylDackel, context: &str) -> String {
    let merged = if spec.merges { " merged" } else { "" };
    let what = match spec.columns {
        SiteColumns::MethylKit => return "chrBase\tchr\tbase\tstrand\tcoverage\tfreqC\tfreqT\n".to_owned(),
        SiteColumns::Percent => "methylation levels",
        SiteColumns::Fraction => "methylation fractions",
        SiteColumns::Counts => "methylation counts",
    };
    format!("track type=\"bedGraph\" description=\"{prefix} {context}{merged} {what}\"\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::sync::Arc;
    use zerohop_cram::{ContigBases, CramReferenceBuilder};

    /// The text of the files, out of parts with these bounds that come from the last to the first.
    fn written(sites: &[Site], bounds: &[Place], spec: &MethylDackelSpec) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let contigs = [Contig::new("a".to_owned(), 400)];
        let what = MethylDackel { spec: spec.clone(), reference: no_reference(), prefix: "p".to_owned() };
        let paths: Vec<_> = spec.suffixes().iter().map(|suffix| folder.path().join(suffix)).collect();
        let files = paths.iter().map(|path| LineFile::create(path).unwrap()).collect();
        let mut all = SiteFiles::new(&what, files).unwrap();
        for (number, part) in bounds.windows(2).enumerate().rev() {
            let places = part[0]..part[1];
            let own: Vec<Site> = sites.iter().copied().filter(|site| places.contains(&site.place)).collect();
            all.put(number, PartOfSites::new(&own, &places, &contigs, spec), &contigs, spec).unwrap();
        }
        for file in all.finish(&contigs, spec).unwrap() {
            file.finish().unwrap().complete().unwrap();
        }
        paths.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect()
    }

    fn no_reference() -> Arc<ContigBases> {
        let builder = CramReferenceBuilder::new(false, true).unwrap();
        let reference = builder.finish("none".as_ref()).unwrap().unwrap();
        Arc::new(reference.into_contigs(&[]).unwrap())
    }

    proptest! {
        #[test]
        fn lines_do_not_depend_on_parts(
            // A place has one context and strand: of CpG both, then those of CHG and CHH.
            counts in prop::collection::btree_map(0u64..60, (0u32..4, 1u32..4), 0..40),
            mut bounds in prop::collection::vec(1u64..380, 0..12),
            merges in any::<bool>(),
            least_depth in 1u32..6,
        ) {
            let kinds = [(0, true), (0, false), (1, true), (2, true), (1, false), (2, false)];
            let site = |(at, (methylated, converted)): (&u64, &(u32, u32))| {
                let (context, is_top) = kinds[(at % 6) as usize];
                Site { place: *at + 6 * (at / 6), context, is_top, methylated: *methylated, converted: *converted }
            };
            let sites: Vec<Site> = counts.iter().map(site).collect();
            bounds.extend([0, 400]);
            bounds.sort_unstable();
            bounds.dedup();
            let contexts = [true; 3];
            let spec = MethylDackelSpec { contexts, merges, least_depth, ..MethylDackelSpec::plain() };
            prop_assert_eq!(written(&sites, &bounds, &spec), written(&sites, &[0, 400], &spec));
        }
    }

    #[test]
    fn lines_are_those_of_the_columns() {
        let site = |place, is_top, methylated, converted| Site { place, context: 0, is_top, methylated, converted };
        let sites = [site(9, true, 2, 1), site(10, false, 0, 7), site(20, false, 1, 0)];
        let text = |columns, merges| {
            let spec = MethylDackelSpec { columns, merges, ..MethylDackelSpec::plain() };
            written(&sites, &[0, 10, 400], &spec).remove(0)
        };
        let head = "track type=\"bedGraph\" description=\"p CpG";
        assert_eq!(
            text(SiteColumns::Percent, false),
            format!("{head} methylation levels\"\na\t9\t10\t66\t2\t1\na\t10\t11\t0\t0\t7\na\t20\t21\t100\t1\t0\n")
        );
        assert_eq!(
            text(SiteColumns::Fraction, true),
            format!("{head} merged methylation fractions\"\na\t9\t11\t0.200000\na\t19\t21\t1.000000\n")
        );
        assert_eq!(
            text(SiteColumns::Counts, true),
            format!("{head} merged methylation counts\"\na\t9\t11\t10\na\t19\t21\t1\n")
        );
        assert_eq!(
            text(SiteColumns::MethylKit, false),
            "chrBase\tchr\tbase\tstrand\tcoverage\tfreqC\tfreqT\na.10\ta\t10\tF\t3\t 66.67\t 33.33\n\
             a.11\ta\t11\tR\t7\t  0.00\t100.00\na.21\ta\t21\tR\t1\t100.00\t  0.00\n"
        );
    }
}
