//! The UMI of a template, and why UMIs cannot be compared.

/// The UMI of one template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TemplateUmi<'u> {
    /// Its letters, as in the tag RX.
    pub umi: &'u [u8],
    /// Whether the first read lies lower on the reference than the second: its contig comes first; of one contig, its
    /// 5' end before clipping; of one position, it is the forward read. Only [`crate::Strategy::Paired`] looks at it.
    pub first_is_lower: bool,
}

/// UMIs of a place that cannot be compared. Templates have the numbers in which they were given, from 0 on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UmiError {
    /// A template without a UMI.
    #[error("the template has no UMI; drop it, or give all templates one")]
    Missing {
        /// The template.
        template: usize,
    },
    /// A UMI that is not of two halves.
    #[error("the UMI {umi} has not two halves with one hyphen between them; choose another strategy than paired")]
    NotPaired {
        /// The template.
        template: usize,
        /// Its UMI.
        umi: String,
    },
    /// UMIs of different lengths, which have no positions in common.
    #[error(
        "UMIs {umi} and {other} of one place differ in length; with the strategies edit, adjacency and paired all need \
         one length"
    )]
    Lengths {
        /// The first template whose UMI has another length than that of template 0.
        template: usize,
        /// Its UMI.
        umi: String,
        /// That of template 0.
        other: String,
    },
}

impl UmiError {
    /// The template that the error is about.
    pub fn template(&self) -> usize {
        match self {
            Self::Missing { template } | Self::NotPaired { template, .. } | Self::Lengths { template, .. } => *template,
        }
    }

    pub(crate) fn not_paired(template: usize, umi: &[u8]) -> Self {
        Self::NotPaired { template, umi: String::from_utf8_lossy(umi).into_owned() }
    }
}

/// UMIs that are compared position by position need one length.
pub(crate) fn check_lengths(templates: &[TemplateUmi<'_>]) -> Result<(), UmiError> {
    let Some(first) = templates.first() else { return Ok(()) };
    let differs = |template: &TemplateUmi<'_>| template.umi.len() != first.umi.len();
    let Some(template) = templates.iter().position(differs) else { return Ok(()) };
    let text = |umi| String::from_utf8_lossy(umi).into_owned();
    Err(UmiError::Lengths { template, umi: text(templates[template].umi), other: text(first.umi) })
}
