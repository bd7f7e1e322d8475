//! Templates of one place, put together by the molecules that they come from.

use crate::marks::{Marks, Molecule};
use crate::set::SignatureSet;
use crate::signature::{ChoiceFields, END, PAIR};
use crate::template::read_head;
use std::ops::Range;
use zerohop_model::error::{Error, shown};
use zerohop_sort::Ordinal;
use zerohop_umi::{Assignment, FamilySizes, Grouper, Rules, TemplateUmi};

/// The templates of one place, as they come.
pub(crate) struct Place {
    grouper: Grouper,
    /// Their signatures, one after the other.
    signatures: Vec<u8>,
    templates: Vec<StoredTemplate>,
    families: FamilySizes,
}

/// Where a template lies in the signatures.
struct StoredTemplate {
    umi: Range<usize>,
    first_is_lower: bool,
    choice: Range<usize>,
    chunk: Ordinal,
}

impl Place {
    pub(crate) fn new(rules: Rules) -> Self {
        Place {
            grouper: Grouper::new(rules),
            signatures: Vec::new(),
            templates: Vec::new(),
            families: FamilySizes::default(),
        }
    }

    /// Adds a template of this chunk.
    pub(crate) fn add(&mut self, signature: &[u8], chunk: Ordinal) -> Result<(), Error> {
        let (umi, first_is_lower) = read_head(signature).ok_or_else(unreadable)?;
        let start = self.signatures.len();
        self.signatures.extend_from_slice(signature);
        let umi = start + umi.start..start + umi.end;
        let choice = umi.end..self.signatures.len();
        self.templates.push(StoredTemplate { umi, first_is_lower, choice, chunk });
        Ok(())
    }

    /// Ends the place: says of each template from which molecule it comes, and which one of each molecule stays.
    pub(crate) fn end(&mut self, set: &mut SignatureSet<'_>) -> Result<(), Error> {
        let Place { grouper, signatures, templates, families } = self;
        let of_template = |template: &StoredTemplate| TemplateUmi {
            umi: &signatures[template.umi.clone()],
            first_is_lower: template.first_is_lower,
        };
        let choice =
            |template: &StoredTemplate| ChoiceFields::read(&signatures[template.choice.clone()]).ok_or_else(unreadable);
        let umis: Vec<_> = templates.iter().map(of_template).collect();
        let assignments = match grouper.group(&umis) {
            Ok(assignments) => assignments,
            Err(error) => {
                let choice = templates.get(error.template()).map(choice).transpose()?;
                let read = shown(choice.map_or(&[], |choice| choice.tie));
                return Err(Error::Record { read, mate: 0, what: error.to_string() });
            }
        };
        families.add_place(assignments);
        // Each strand of a molecule by itself, in the order of the input.
        let mut order: Vec<_> = (0..templates.len()).collect();
        order.sort_by_key(|at| (assignments[*at], *at));
        let numbers = numbers(set.marks(), assignments, templates, choice)?;
        let mut last = None;
        for at in order {
            let (template, assignment, choice) = (&templates[at], assignments[at], choice(&templates[at])?);
            let molecule = Molecule { number: numbers[assignment.molecule as usize], strand: assignment.strand };
            let record = |record| template.chunk.with_record(record);
            let records = choice.template.clone().unwrap_or_default();
            records.for_each(|of_template| set.marks().set_molecule(record(of_template), molecule));
            match last.replace(assignment) == Some(assignment) {
                true => set.add(&choice, record(choice.record)),
                false => set.begin(if choice.has_mate { PAIR } else { END }, &choice, record(choice.record)),
            }
        }
        set.end();
        signatures.clear();
        templates.clear();
        Ok(())
    }

    /// How many families of which size there were.
    pub(crate) fn into_families(self) -> FamilySizes {
        self.families
    }
}

/// The number of each molecule: that of the first record of its first template, of all records of the input.
fn numbers<'s>(
    marks: &Marks,
    assignments: &[Assignment],
    templates: &[StoredTemplate],
    choice: impl Fn(&StoredTemplate) -> Result<ChoiceFields<'s>, Error>,
) -> Result<Vec<u64>, Error> {
    let mut numbers = Vec::new();
    for (assignment, template) in assignments.iter().zip(templates) {
        if assignment.molecule as usize == numbers.len() {
            let first = choice(template)?.template.map_or(0, |records| records.start);
            let number = marks.number(template.chunk.with_record(first));
            numbers.push(number.ok_or_else(|| Error::Internal("a template of no chunk".to_owned()))?);
        }
    }
    Ok(numbers)
}

fn unreadable() -> Error {
    Error::Internal("a signature of a template cannot be read".to_owned())
}
