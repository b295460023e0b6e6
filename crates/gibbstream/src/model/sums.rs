//! Sums that do not depend on the order of their terms: the statistics of models whose statistics are lists of numbers.
//!
//! A floating-point number is cut into digits of 32 bits at fixed places of the number line. Digits are integers, and
//! integers add up exactly. A sum keeps the three highest digits of its largest term, at least 64 bits, so what is cut
//! off is less than one part in 10^19 of that term. Which digits a term has, and which are kept in the end, does not
//! depend on the order of additions; so neither does the result (docs/science.md, "Statistics that merge exactly").

use crate::error::Result;
use crate::model::{Statistics, mismatch};
use serde::{Deserialize, Serialize};

/// Bits of a digit.
const DIGIT: i32 = 32;
/// Digits that are kept.
const DIGITS: usize = 3;
/// More terms than this could overflow a digit.
const MOST_TERMS: u64 = 1 << 30;

/// One sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sum {
    /// The place of the highest digit kept, meaningless while all digits are zero and nothing was added.
    top: i16,
    /// Sums of digits, the lowest first.
    digits: [i64; DIGITS],
    /// Whether a term was not a finite number.
    broken: bool,
}

impl Sum {
    #[inline]
    fn add(&mut self, value: f64) {
        if value == 0.0 {
            return;
        }
        let bits = value.to_bits();
        let exponent = ((bits >> 52) & 0x7ff) as i32;
        if exponent == 0x7ff {
            self.broken = true;
            return;
        }
        let fraction = bits & ((1 << 52) - 1);
        let (mantissa, lowest) =
            if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
        let highest = lowest + 63 - mantissa.leading_zeros() as i32;
        self.raise(highest.div_euclid(DIGIT) as i16);
        let shift = lowest - (i32::from(self.top) + 1 - DIGITS as i32) * DIGIT;
        let placed = if shift >= 0 {
            u128::from(mantissa) << shift
        } else {
            u128::from(mantissa.checked_shr(shift.unsigned_abs()).unwrap_or(0))
        };
        let sign = if bits >> 63 == 1 { -1 } else { 1 };
        for (place, digit) in self.digits.iter_mut().enumerate() {
            *digit += sign * i64::from((placed >> (DIGIT as usize * place)) as u32);
        }
    }

    /// Makes room for a highest digit at `top`; what falls off at the other end is dropped digit by digit.
    #[inline]
    fn raise(&mut self, top: i16) {
        if self.is_empty() {
            self.top = top;
        } else if top > self.top {
            let drop = ((top - self.top) as usize).min(DIGITS);
            self.digits.copy_within(drop.., 0);
            self.digits[DIGITS - drop..].fill(0);
            self.top = top;
        }
    }

    /// No term has been added. The top is kept when digits cancel, so that order does not matter.
    fn is_empty(&self) -> bool {
        self.top == NOTHING
    }

    fn merge(&mut self, other: &Self) {
        self.broken |= other.broken;
        if other.is_empty() {
            return;
        }
        let mut other = *other;
        self.raise(other.top);
        other.raise(self.top);
        self.digits.iter_mut().zip(other.digits).for_each(|(mine, theirs)| *mine += theirs);
    }

    fn value(&self) -> f64 {
        if self.broken {
            return f64::NAN;
        }
        if self.is_empty() {
            return 0.0;
        }
        // The whole number of lowest units, rounded once; two factors, because one could leave the range.
        let whole = self.digits.iter().rev().fold(0_i128, |sum, &digit| (sum << DIGIT) + i128::from(digit));
        let exponent = (i32::from(self.top) + 1 - DIGITS as i32) * DIGIT;
        let half = exponent / 2;
        whole as f64 * libm::exp2(f64::from(half)) * libm::exp2(f64::from(exponent - half))
    }
}

/// The top of a sum without terms.
const NOTHING: i16 = i16::MIN;

/// Places of the highest digit that numbers can have.
const TOPS: std::ops::RangeInclusive<i16> = -34..=31;

/// Sums over observations of a list of numbers, exact in any order: statistics for models whose statistics are a list.
#[allow(clippy::struct_field_names, reason = "it has sums")]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written")]
pub struct Sums {
    observations: u64,
    /// How often each observation was looked at, in boosted inference.
    passes: u64,
    sums: Vec<Sum>,
}

/// Sums as they were written, before anybody has looked at them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    observations: u64,
    passes: u64,
    sums: Vec<Sum>,
}

impl TryFrom<Written> for Sums {
    type Error = String;

    fn try_from(Written { observations, passes, sums }: Written) -> Result<Self, String> {
        let read = Self { observations, passes, sums };
        read.check().map_err(|what| format!("{what} cannot be right"))?;
        Ok(read)
    }
}

impl Sums {
    /// So many sums, without observations.
    pub fn new(len: usize) -> Self {
        Self { observations: 0, passes: 1, sums: vec![Sum { top: NOTHING, ..Sum::default() }; len] }
    }

    /// Starts again with so many sums.
    pub fn reset(&mut self, len: usize) {
        (self.observations, self.passes) = (0, 1);
        self.sums.clear();
        self.sums.resize(len, Sum { top: NOTHING, ..Sum::default() });
    }

    /// Adds the statistics of one observation.
    pub fn add(&mut self, values: &[f64]) {
        assert_eq!(values.len(), self.sums.len(), "every observation has the same statistics");
        self.observations += 1;
        self.add_at(0, values);
    }

    /// Adds to the sums from `start` on, for statistics that come in parts; [`Self::count`] counts the observation.
    pub fn add_at(&mut self, start: usize, values: &[f64]) {
        self.sums[start..].iter_mut().zip(values).for_each(|(sum, &value)| sum.add(value));
    }

    /// Counts observations whose statistics come in parts.
    pub fn count(&mut self, observations: u64) {
        self.observations += observations;
    }

    /// Number of sums.
    pub fn len(&self) -> usize {
        self.sums.len()
    }

    /// True if there is no sum.
    pub fn is_empty(&self) -> bool {
        self.sums.is_empty()
    }

    /// Refuses sums of another model than one of so many statistics.
    pub fn check_len(&self, len: usize) -> Result<()> {
        if self.sums.len() == len {
            return Ok(());
        }
        Err(mismatch(&format!("{} sums, where the model has {len} statistics", self.sums.len())))
    }

    /// The sums.
    pub fn totals(&self) -> Vec<f64> {
        self.sums.iter().map(Sum::value).collect()
    }

    /// The mean over observations of each number.
    pub fn mean(&self) -> Vec<f64> {
        let number = (self.observations * self.passes).max(1) as f64;
        self.sums.iter().map(|sum| sum.value() / number).collect()
    }
}

impl Statistics for Sums {
    fn merge(&mut self, other: &Self) -> Result<()> {
        if other.observations == 0 {
            return Ok(());
        }
        if self.observations == 0 {
            self.clone_from(other);
            return Ok(());
        }
        if (self.sums.len(), self.passes) != (other.sums.len(), other.passes) {
            return Err(mismatch(&format!("{} sums and {}", self.sums.len(), other.sums.len())));
        }
        self.sums.iter_mut().zip(&other.sums).for_each(|(mine, theirs)| mine.merge(theirs));
        self.observations += other.observations;
        Ok(())
    }

    fn merge_pass(&mut self, other: &Self) {
        if self.observations == 0 {
            self.clone_from(other);
        } else {
            self.sums.iter_mut().zip(&other.sums).for_each(|(mine, theirs)| mine.merge(theirs));
            self.passes += other.passes;
        }
    }

    fn weight(&self) -> u64 {
        self.observations
    }

    fn check(&self) -> Result<(), &'static str> {
        let terms = self.observations.saturating_mul(self.passes);
        let most = terms.saturating_mul(u64::from(u32::MAX)).min(i64::MAX as u64);
        let sound = |sum: &Sum| {
            let placed = if sum.is_empty() { sum.digits == [0; DIGITS] } else { TOPS.contains(&sum.top) };
            placed && !sum.broken && sum.digits.iter().all(|digit| digit.unsigned_abs() <= most)
        };
        if self.sums.iter().all(sound) && terms <= MOST_TERMS { Ok(()) } else { Err("an expected statistic") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::random::{Purpose, Seed};
    use proptest::prelude::*;

    /// The slow twin: every finite number as an integer count of the smallest one, in a list of bits wide enough for all.
    fn exact(values: &[f64]) -> f64 {
        // Shewchuk's expansion: a list of numbers that do not overlap and add up to the exact sum.
        let mut parts: Vec<f64> = Vec::new();
        for &value in values {
            let (mut x, mut kept) = (value, Vec::new());
            for &part in &parts {
                let (large, small) = if x.abs() < part.abs() { (part, x) } else { (x, part) };
                let sum = large + small;
                let error = small - (sum - large);
                if error != 0.0 {
                    kept.push(error);
                }
                x = sum;
            }
            kept.push(x);
            parts = kept;
        }
        parts.iter().sum()
    }

    fn sum_of(values: &[f64]) -> Sums {
        let mut sums = Sums::new(1);
        values.iter().for_each(|&value| sums.add(&[value]));
        sums
    }

    proptest! {
        /// Any order and any grouping of terms of any size give the same bits, within 2^-60 of the largest term.
        #[test]
        fn order_and_grouping_do_not_matter(
            values in prop::collection::vec((-300_i32..300, -1.0..1.0_f64), 1..40),
            seed in 0_u64..1000,
            cut in 0_usize..40,
        ) {
            let values: Vec<f64> = values.into_iter().map(|(e, m)| m * libm::exp2(f64::from(e))).collect();
            let whole = sum_of(&values);
            let mut shuffled = values.clone();
            Seed(seed).stream(Purpose::Initial, [0, 0]).shuffle(&mut shuffled);
            let cut = cut.min(shuffled.len());
            let (mut left, right) = (sum_of(&shuffled[..cut]), sum_of(&shuffled[cut..]));
            left.merge(&right).unwrap();
            prop_assert_eq!(&left, &whole);
            let largest = values.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
            let error = (whole.totals()[0] - exact(&values)).abs();
            prop_assert!(error <= largest * 1e-15, "{error} beside {largest}");
        }
    }

    #[test]
    fn integers_are_exact_and_extremes_hold() {
        assert_eq!(sum_of(&[1e15, 1.0, -1e15, 3.0]).totals(), [4.0]);
        assert_eq!(sum_of(&[f64::MAX / 4.0, f64::MIN_POSITIVE / 8.0]).totals(), [f64::MAX / 4.0]);
        assert_eq!(sum_of(&[5e-324, 5e-324]).totals(), [1e-323]);
        assert_eq!(sum_of(&[1.0, -1.0]), sum_of(&[-1.0, 1.0]));
        assert!(sum_of(&[1.0, f64::NAN]).check().is_err() && sum_of(&[f64::INFINITY]).check().is_err());
    }
}
