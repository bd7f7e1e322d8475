//! Which templates of one place come from one molecule.

use crate::distinct::Distinct;
use crate::key::{Keys, is_turned, mismatches};
use crate::rules::{Rules, Strategy, is_base};
use crate::template::{TemplateUmi, UmiError, check_lengths};
use crate::variants::Variants;
use std::collections::HashMap;

/// A UMI that belongs to no molecule yet; a molecule that has no number yet.
const NONE: u32 = u32::MAX;
/// Places with fewer distinct UMIs compare each with each: it costs less than to look for another way.
const FEW: usize = 48;

/// A strand of a molecule: `/A` and `/B` behind the number in the tag MI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Strand {
    /// That of templates whose first read lies lower.
    A,
    /// The other one.
    B,
}

/// To what a template belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Assignment {
    /// The molecule. Those of a place are numbered from 0 on, by their first templates.
    pub molecule: u32,
    /// The strand, with [`Strategy::Paired`].
    pub strand: Option<Strand>,
}

/// Groups the templates of places, one place after the other, in memory that it keeps.
///
/// ```
/// # use zerohop_umi::{Grouper, Rules, Strategy, TemplateUmi};
/// let mut grouper = Grouper::new(Rules::new(Strategy::Adjacency, None)?);
/// let umis = ["TTTT", "ACGT", "ACGT", "ACGA"];
/// let templates = umis.map(|umi| TemplateUmi { umi: umi.as_bytes(), first_is_lower: true });
/// let molecules: Vec<u32> = grouper.group(&templates)?.iter().map(|assignment| assignment.molecule).collect();
/// assert_eq!(molecules, [0, 1, 1, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Grouper {
    rules: Rules,
    keys: Keys,
    /// The key of one template.
    key: Vec<u8>,
    distinct: Distinct,
    /// For each template, the number of its UMI.
    umis: Vec<u32>,
    molecules: Molecules,
    assignments: Vec<Assignment>,
}

impl Grouper {
    /// One that goes by these rules.
    pub fn new(rules: Rules) -> Self {
        Grouper {
            rules,
            keys: Keys::new(rules),
            key: Vec::new(),
            distinct: Distinct::default(),
            umis: Vec::new(),
            molecules: Molecules::default(),
            assignments: Vec::new(),
        }
    }

    /// Says of each template of one place to which molecule it belongs.
    ///
    /// A place has all templates with the same two ends, of one library and one cell
    /// ([`Strategy::splits_by_strands`] says what else divides it), but those that are dropped
    /// ([`crate::has_no_call`]). The molecules do not depend on the order of the templates; their numbers do.
    ///
    /// UMIs are compared letter by letter, small ones as capitals. N, or any other, is a letter.
    ///
    /// # Errors
    ///
    /// Says which UMI is missing, is not paired with [`Strategy::Paired`], or differs in length from the first of the
    /// place with a strategy that compares positions. fgbio ends in all these cases, too.
    pub fn group(&mut self, templates: &[TemplateUmi<'_>]) -> Result<&[Assignment], UmiError> {
        self.collect(templates)?;
        self.molecules.find(self.rules, &self.distinct);
        self.assign(templates);
        Ok(&self.assignments)
    }

    /// Finds the distinct UMIs.
    fn collect(&mut self, templates: &[TemplateUmi<'_>]) -> Result<(), UmiError> {
        self.distinct.clear();
        self.umis.clear();
        if let Some(least) = self.rules.least_bases() {
            return self.collect_shortened(templates, usize::from(least));
        }
        for (number, template) in templates.iter().enumerate() {
            self.keys.put(number, template, &mut self.key)?;
            self.umis.push(self.distinct.add(&self.key));
        }
        if self.rules.strategy() == Strategy::Exact { Ok(()) } else { check_lengths(templates) }
    }

    /// Finds the distinct UMIs of several lengths: what of them is as long as the shortest.
    fn collect_shortened(&mut self, templates: &[TemplateUmi<'_>], least: usize) -> Result<(), UmiError> {
        let bases = |template: &TemplateUmi<'_>| -> Vec<u8> {
            template.umi.iter().filter(|letter| is_base(**letter)).map(u8::to_ascii_uppercase).collect()
        };
        let all: Vec<Vec<u8>> = templates.iter().map(bases).collect();
        if let Some(template) = all.iter().position(|bases| bases.len() < least) {
            return Err(UmiError::Missing { template });
        }
        let begin = |bases: &Vec<u8>| match self.rules.edits() {
            0 => bases[..least].to_vec(),
            _ => Vec::new(),
        };
        let mut shortest: HashMap<Vec<u8>, usize> = HashMap::new();
        for bases in &all {
            let length = shortest.entry(begin(bases)).or_insert(bases.len());
            *length = bases.len().min(*length);
        }
        for bases in &all {
            let length = shortest.get(&begin(bases)).copied().unwrap_or(bases.len());
            self.umis.push(self.distinct.add(&bases[..length]));
        }
        Ok(())
    }

    /// Numbers the molecules in the order of the templates.
    fn assign(&mut self, templates: &[TemplateUmi<'_>]) {
        let Molecules { firsts, numbers, .. } = &mut self.molecules;
        numbers.clear();
        numbers.resize(self.distinct.len(), NONE);
        let mut next = 0;
        self.assignments.clear();
        self.assignments.extend(self.umis.iter().zip(templates).map(|(&umi, template)| {
            let first = firsts[umi as usize];
            let number = &mut numbers[first as usize];
            if *number == NONE {
                *number = next;
                next += 1;
            }
            let strand = (self.rules.strategy() == Strategy::Paired).then(|| {
                let is_turned = umi != first && is_turned(self.distinct.key(first), self.distinct.key(umi));
                if is_turned == template.first_is_lower { Strand::B } else { Strand::A }
            });
            Assignment { molecule: *number, strand }
        }));
    }
}

/// Which distinct UMIs are one molecule.
#[derive(Debug, Default)]
struct Molecules {
    /// For each UMI, that with which its molecule began.
    firsts: Vec<u32>,
    /// The UMIs in the order in which molecules begin with them.
    order: Vec<u32>,
    /// UMIs of a molecule from which no step was tried yet.
    waiting: Vec<u32>,
    /// UMIs that belong to no molecule, and some that do: they go when they are looked at next.
    left: Vec<u32>,
    /// Hashes of what one UMI can become.
    hashes: Vec<u64>,
    /// For each UMI with which a molecule begins, the number of the molecule.
    numbers: Vec<u32>,
}

impl Molecules {
    /// Goes through the UMIs in their order: each that is left begins a molecule, to which all belong that are left and
    /// that steps lead to. So in which order their steps are tried does not matter (fgbio's is breadth first).
    fn find(&mut self, rules: Rules, distinct: &Distinct) {
        let umis = distinct.len() as u32;
        self.firsts.clear();
        if rules.edits() == 0 || umis < 2 {
            self.firsts.extend(0..umis);
            return;
        }
        self.firsts.resize(umis as usize, NONE);
        self.order.clear();
        self.order.extend(0..umis);
        if rules.strategy() != Strategy::Edit {
            let place = |umi: u32| (std::cmp::Reverse(distinct.count(umi)), distinct.key(umi));
            self.order.sort_unstable_by(|a, b| place(*a).cmp(&place(*b)));
        }
        self.left.clone_from(&self.order);
        let mut variants = if distinct.len() < FEW { None } else { Variants::of(distinct, rules.edits()) };
        for at in 0..self.order.len() {
            let first = self.order[at];
            if self.firsts[first as usize] != NONE {
                continue;
            }
            self.firsts[first as usize] = first;
            self.waiting.push(first);
            while let Some(from) = self.waiting.pop() {
                match &mut variants {
                    Some(variants) => self.step_to_variants(rules, distinct, variants, from),
                    None => self.step_to_left(rules, distinct, from),
                }
            }
        }
    }

    /// Compares one UMI with all that are left.
    fn step_to_left(&mut self, rules: Rules, distinct: &Distinct, from: u32) {
        let first = self.firsts[from as usize];
        let is_step = is_step(rules, distinct, from);
        self.left.retain(|&umi| {
            let owner = &mut self.firsts[umi as usize];
            if *owner == NONE && is_step(umi) {
                *owner = first;
                self.waiting.push(umi);
            }
            *owner == NONE
        });
    }

    /// Looks up all that one UMI can become.
    fn step_to_variants(&mut self, rules: Rules, distinct: &Distinct, variants: &mut Variants, from: u32) {
        let first = self.firsts[from as usize];
        let is_step = is_step(rules, distinct, from);
        self.hashes.clear();
        variants.put_hashes(distinct.key(from), distinct.hash(from), rules.edits(), &mut self.hashes);
        for umi in self.hashes.iter().flat_map(|hash| distinct.with_hash(*hash)) {
            let owner = &mut self.firsts[umi as usize];
            if *owner == NONE && is_step(umi) {
                *owner = first;
                self.waiting.push(umi);
            }
        }
    }
}

/// Whether a step goes from one UMI to another.
fn is_step<'d>(rules: Rules, distinct: &'d Distinct, from: u32) -> impl Fn(u32) -> bool + 'd {
    let (key, limit) = (distinct.key(from), rules.limit(distinct.count(from)));
    let edits = usize::from(rules.edits());
    move |umi| distinct.count(umi) <= limit && mismatches(key, distinct.key(umi)) <= edits
}
