//! The scores by which diamond's E-values are computed: matrices and gap costs, and what is published of each.
//!
//! The numbers are NCBI's (`blosum62_values` and its likes in BLAST's blast_stat.c), made by the ALP library of
//! Sheetlin, Park, Frith and Spouge. diamond 2.1.3 takes the same and refuses other gap costs.

use std::fmt;

/// Of one pair of gap costs: opening, extension, lambda, K, alpha, alpha_v, sigma.
type Gapped = (u32, u32, f64, f64, f64, f64, f64);

/// A matrix that has published numbers.
struct Matrix {
    name: &'static str,
    /// diamond's gap costs if it is not told: opening and extension.
    usual_gap: (u32, u32),
    /// alpha and alpha_v without gaps.
    ungapped: (f64, f64),
    gapped: &'static [Gapped],
}

const MATRICES: [&Matrix; 8] = [&BLOSUM45, &BLOSUM50, &BLOSUM62, &BLOSUM80, &BLOSUM90, &PAM30, &PAM70, &PAM250];

/// The matrix that diamond takes if it is not told.
const USUAL_MATRIX: &str = "BLOSUM62";

/// How scores are distributed under a matrix with gap costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scoring {
    pub(crate) lambda: f64,
    pub(crate) k: f64,
    pub(crate) alpha: f64,
    pub(crate) alpha_v: f64,
    pub(crate) sigma: f64,
    pub(crate) ungapped_alpha: f64,
    pub(crate) ungapped_alpha_v: f64,
    /// What a gap of one letter costs.
    pub(crate) gap: f64,
}

/// Why there are no numbers for a matrix with gap costs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoScoring {
    /// There is no such matrix.
    Matrix(String),
    /// The matrix has none for these gap costs.
    Gap {
        /// The matrix.
        matrix: &'static str,
        /// Cost to open a gap, and to extend it.
        asked: (u32, u32),
    },
}

impl Scoring {
    /// Of diamond's matrix `matrix` with these gap costs; each is diamond's default where it is not given.
    ///
    /// # Errors
    /// [`NoScoring`] if nothing is published of it.
    pub fn of(matrix: Option<&str>, open: Option<u32>, extend: Option<u32>) -> Result<Self, NoScoring> {
        let name = matrix.unwrap_or(USUAL_MATRIX);
        let found = MATRICES.into_iter().find(|matrix| matrix.name.eq_ignore_ascii_case(name));
        let matrix = found.ok_or_else(|| NoScoring::Matrix(name.to_owned()))?;
        let asked = (open.unwrap_or(matrix.usual_gap.0), extend.unwrap_or(matrix.usual_gap.1));
        let row = matrix.gapped.iter().find(|row| (row.0, row.1) == asked);
        let &(open, extend, lambda, k, alpha, alpha_v, sigma) =
            row.ok_or(NoScoring::Gap { matrix: matrix.name, asked })?;
        let (ungapped_alpha, ungapped_alpha_v) = matrix.ungapped;
        let gap = f64::from(open + extend);
        Ok(Scoring { lambda, k, alpha, alpha_v, sigma, ungapped_alpha, ungapped_alpha_v, gap })
    }
}

impl fmt::Display for NoScoring {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoScoring::Matrix(name) => {
                let all = MATRICES.map(|matrix| matrix.name).join(", ");
                write!(out, "diamond has no matrix {name}: take one of {all}")
            }
            NoScoring::Gap { matrix, asked: (open, extend) } => {
                let rows = MATRICES.iter().find(|one| one.name == *matrix).map_or(&[][..], |matrix| matrix.gapped);
                let all: Vec<String> = rows.iter().map(|row| format!("{}/{}", row.0, row.1)).collect();
                write!(
                    out,
                    "diamond has no E-values for {matrix} with --gapopen {open} --gapextend {extend}: \
                     take one of {} (opening/extension)",
                    all.join(", ")
                )
            }
        }
    }
}

const BLOSUM45: Matrix = Matrix {
    name: "BLOSUM45",
    usual_gap: (14, 2),
    ungapped: (0.911_3, 9.611_06),
    gapped: &[
        (13, 3, 0.207, 0.049, 1.5, 35.855_9, 35.963_9),
        (12, 3, 0.199, 0.039, 1.8, 45.693_6, 45.851_7),
        (11, 3, 0.19, 0.031, 2.0, 62.874_1, 63.103_7),
        (10, 3, 0.179, 0.023, 2.4, 88.286_8, 88.639_1),
        (16, 2, 0.21, 0.051, 1.5, 36.279_8, 36.452_4),
        (15, 2, 0.203, 0.041, 1.7, 44.825_7, 45.060_4),
        (14, 2, 0.195, 0.032, 1.9, 60.736_2, 61.102_3),
        (13, 2, 0.185, 0.024, 2.2, 85.148_1, 85.689_4),
        (12, 2, 0.171, 0.016, 2.8, 127.758, 128.582),
        (19, 1, 0.205, 0.04, 1.9, 53.071_4, 53.828_2),
        (18, 1, 0.198, 0.032, 2.0, 72.342_4, 73.403_9),
        (17, 1, 0.189, 0.024, 2.4, 103.055, 104.721),
        (16, 1, 0.176, 0.016, 2.8, 170.1, 173.003),
    ],
};

const BLOSUM50: Matrix = Matrix {
    name: "BLOSUM50",
    usual_gap: (13, 2),
    ungapped: (0.689_5, 5.388_31),
    gapped: &[
        (13, 3, 0.212, 0.063, 1.1, 18.113_8, 18.202_8),
        (12, 3, 0.206, 0.055, 1.2, 22.654_6, 22.777_7),
        (11, 3, 0.197, 0.042, 1.4, 29.861_1, 30.045_7),
        (10, 3, 0.186, 0.031, 1.7, 42.393_8, 42.674),
        (9, 3, 0.172, 0.022, 2.1, 66.069_6, 66.516_4),
        (16, 2, 0.215, 0.066, 1.05, 17.951_8, 18.092_1),
        (15, 2, 0.21, 0.058, 1.2, 21.940_1, 22.141_8),
        (14, 2, 0.202, 0.045, 1.4, 28.681_2, 28.961_9),
        (13, 2, 0.193, 0.035, 1.6, 42.059_5, 42.471_6),
        (12, 2, 0.181, 0.025, 1.9, 63.747_6, 64.397_3),
        (19, 1, 0.212, 0.057, 1.2, 26.311_2, 26.923_3),
        (18, 1, 0.207, 0.05, 1.4, 34.903_7, 35.734_8),
        (17, 1, 0.198, 0.037, 1.6, 48.895_8, 50.148_6),
        (16, 1, 0.186, 0.025, 1.9, 76.469_1, 78.443),
        (15, 1, 0.171, 0.015, 2.7, 140.053, 144.16),
    ],
};

const BLOSUM62: Matrix = Matrix {
    name: "BLOSUM62",
    usual_gap: (11, 1),
    ungapped: (0.791_6, 4.964_66),
    gapped: &[
        (11, 2, 0.297, 0.082, 1.1, 12.673_8, 12.757_6),
        (10, 2, 0.291, 0.075, 1.3, 16.474, 16.602_6),
        (9, 2, 0.279, 0.058, 1.5, 22.751_9, 22.95),
        (8, 2, 0.264, 0.045, 1.8, 35.483_8, 35.821_3),
        (7, 2, 0.239, 0.027, 2.5, 61.238_3, 61.886),
        (6, 2, 0.201, 0.012, 3.3, 140.417, 141.882),
        (13, 1, 0.292, 0.071, 1.2, 19.506_3, 19.893_1),
        (12, 1, 0.283, 0.059, 1.5, 27.856_2, 28.469_9),
        (11, 1, 0.267, 0.041, 1.9, 42.602_8, 43.636_2),
        (10, 1, 0.243, 0.024, 2.5, 83.178_7, 85.065_6),
        (9, 1, 0.206, 0.01, 4.0, 210.333, 214.842),
    ],
};

const BLOSUM80: Matrix = Matrix {
    name: "BLOSUM80",
    usual_gap: (10, 1),
    ungapped: (0.522_2, 1.918_13),
    gapped: &[
        (25, 2, 0.342, 0.17, 0.52, 1.731, 1.731_3),
        (13, 2, 0.336, 0.15, 0.59, 2.673_47, 2.692_3),
        (9, 2, 0.319, 0.11, 0.76, 5.576_09, 5.667_86),
        (8, 2, 0.308, 0.09, 0.89, 7.536_95, 7.686_23),
        (7, 2, 0.293, 0.07, 1.1, 11.586_6, 11.840_4),
        (6, 2, 0.268, 0.045, 1.4, 19.958_1, 20.441_2),
        (11, 1, 0.314, 0.095, 0.9, 8.808_61, 9.223_32),
        (10, 1, 0.299, 0.071, 1.1, 13.833_8, 14.533_4),
        (9, 1, 0.279, 0.048, 1.4, 24.252, 25.490_4),
    ],
};

const BLOSUM90: Matrix = Matrix {
    name: "BLOSUM90",
    usual_gap: (10, 1),
    ungapped: (0.443_4, 1.377_76),
    gapped: &[
        (9, 2, 0.31, 0.12, 0.67, 4.232_29, 4.334_17),
        (8, 2, 0.3, 0.099, 0.76, 5.797_02, 5.961_42),
        (7, 2, 0.283, 0.072, 0.93, 9.040_88, 9.321_6),
        (6, 2, 0.259, 0.048, 1.2, 16.024_4, 16.531_6),
        (11, 1, 0.302, 0.093, 0.78, 7.143_25, 7.619_19),
        (10, 1, 0.29, 0.075, 1.04, 11.483_9, 12.269_8),
        (9, 1, 0.265, 0.044, 1.3, 21.408_3, 22.840_9),
    ],
};

const PAM30: Matrix = Matrix {
    name: "PAM30",
    usual_gap: (9, 1),
    ungapped: (0.193_8, 0.161_818),
    gapped: &[
        (7, 2, 0.305, 0.15, 0.35, 1.014_01, 1.162_73),
        (6, 2, 0.287, 0.11, 0.42, 1.688_06, 1.951_43),
        (5, 2, 0.264, 0.079, 0.59, 3.377_01, 3.871_95),
        (10, 1, 0.309, 0.15, 0.35, 1.372_05, 1.788_77),
        (9, 1, 0.294, 0.11, 0.48, 2.463_92, 3.186_15),
        (8, 1, 0.27, 0.072, 0.68, 5.368_13, 6.763_48),
    ],
};

const PAM70: Matrix = Matrix {
    name: "PAM70",
    usual_gap: (10, 1),
    ungapped: (0.325, 0.633_439),
    gapped: &[
        (8, 2, 0.301, 0.12, 0.56, 2.881_65, 3.025_71),
        (7, 2, 0.286, 0.093, 0.67, 4.534_54, 4.785_78),
        (6, 2, 0.264, 0.064, 0.9, 7.942_63, 8.402_72),
        (11, 1, 0.305, 0.12, 0.59, 3.681_4, 4.108_02),
        (10, 1, 0.291, 0.091, 0.71, 6.002_97, 6.716_57),
        (9, 1, 0.27, 0.06, 0.97, 11.360_8, 12.636_7),
    ],
};

const PAM250: Matrix = Matrix {
    name: "PAM250",
    usual_gap: (14, 2),
    ungapped: (0.98, 11.754_3),
    gapped: &[
        (15, 3, 0.205, 0.049, 1.6, 34.578_4, 34.928),
        (14, 3, 0.2, 0.043, 1.7, 43.353, 43.443_8),
        (13, 3, 0.194, 0.036, 1.9, 50.948_5, 51.081_7),
        (12, 3, 0.186, 0.029, 2.2, 69.606_5, 69.793_6),
        (11, 3, 0.174, 0.02, 2.5, 98.653_5, 98.927_1),
        (17, 2, 0.204, 0.047, 1.7, 41.583_8, 41.735_8),
        (16, 2, 0.198, 0.038, 1.8, 51.635_2, 51.843_9),
        (15, 2, 0.191, 0.031, 2.2, 67.256_7, 67.558_5),
        (14, 2, 0.182, 0.024, 2.5, 96.315_1, 96.756_8),
        (13, 2, 0.171, 0.017, 2.9, 135.653, 136.339),
        (21, 1, 0.205, 0.045, 1.8, 48.728_2, 49.218_8),
        (20, 1, 0.199, 0.037, 1.9, 60.832, 61.514_1),
        (19, 1, 0.192, 0.029, 2.3, 84.019_7, 84.985_6),
        (18, 1, 0.183, 0.021, 2.6, 113.829, 115.184),
        (17, 1, 0.171, 0.014, 3.3, 175.071, 177.196),
    ],
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrices_are_found_by_name_and_gap_costs() {
        let usual = Scoring::of(None, None, None).unwrap();
        assert_eq!(usual, Scoring::of(Some("blosum62"), Some(11), Some(1)).unwrap());
        assert_eq!(Scoring::of(None, None, Some(2)).unwrap().gap, 13.0);
        for matrix in MATRICES {
            let (open, extend) = matrix.usual_gap;
            assert_eq!(Scoring::of(Some(matrix.name), None, None).unwrap().gap, f64::from(open + extend));
        }
        let told = Scoring::of(Some("DAYHOFF"), None, None).unwrap_err().to_string();
        assert!(told.starts_with("diamond has no matrix DAYHOFF: take one of BLOSUM45, "), "{told}");
        let told = Scoring::of(Some("pam30"), Some(11), None).unwrap_err().to_string();
        let words = "diamond has no E-values for PAM30 with --gapopen 11 --gapextend 1: take one of 7/2, 6/2, 5/2, \
                     10/1, 9/1, 8/1 (opening/extension)";
        assert_eq!(told, words);
    }
}
