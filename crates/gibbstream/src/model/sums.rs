//! Sums that do not depend on the order of their terms: the statistics of models whose statistics are lists of numbers.
//!
//! A floating-point number is cut into digits of 32 bits at fixed places of the number line. Digits are integers, and
//! integers add up exactly. A sum keeps the three highest digits of its largest term, at least 64 bits, so what is cut
//! off is less than one part in 10^19 of that term. Which digits a term has, and which are kept in the end, does not
//! depend on the order of additions; so neither does the result (docs/science.md, "Statistics that merge exactly").

use crate::error::Result;
use crate::numerics::math::LANES;
use crate::model::{Statistics, mismatch};
use crate::numerics::vectorised::vectorised;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Bits of a digit.
const DIGIT: i64 = 32;
/// Digits that are kept.
const DIGITS: usize = 3;
/// More terms than this could overflow a digit.
const MOST_TERMS: u64 = 1 << 30;
/// The top of a sum without terms. A top is kept when digits cancel, so that order does not matter.
const NOTHING: i16 = i16::MIN;
/// Places of the highest digit that numbers can have.
const TOPS: std::ops::RangeInclusive<i16> = -34..=31;
/// A number whose lowest bit is this far above the lowest bit kept has no bit above the highest digit.
const HIGHEST_SHIFT: i64 = DIGITS as i64 * DIGIT - 53;
/// Observations whose statistics one thread adds up; does not change a result.
const OBSERVATIONS_PER_TASK: usize = 32;

/// Sums over observations of a list of numbers, exact in any order: statistics for models whose statistics are a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Sums {
    observations: u64,
    /// How often each observation was looked at, in boosted inference.
    passes: u64,
    /// Of each sum, the place of the highest digit kept.
    tops: Vec<i16>,
    /// At each place, the lowest first: the sums of digits of each sum.
    digits: [Vec<i64>; DIGITS],
    /// Whether a term was not a finite number.
    broken: bool,
}

/// Sums as they were written, before anybody has looked at them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    observations: u64,
    passes: u64,
    tops: Vec<i16>,
    digits: [Vec<i64>; DIGITS],
    broken: bool,
}

impl TryFrom<Unchecked> for Sums {
    type Error = String;

    fn try_from(Unchecked { observations, passes, tops, digits, broken }: Unchecked) -> Result<Self, String> {
        let read = Self { observations, passes, tops, digits, broken };
        read.check().map_err(|what| format!("{what} cannot be right"))?;
        Ok(read)
    }
}

/// A finite number as `mantissa * 2^lowest`, without its sign.
#[inline(always)]
fn parts(value: f64) -> (u64, i64) {
    let bits = value.to_bits();
    let (exponent, fraction) = ((bits >> 52) as i64 & 0x7ff, bits & ((1 << 52) - 1));
    (fraction | u64::from(exponent != 0) << 52, exponent.max(1) - 1075)
}

/// How far the lowest bit of a number lies above the lowest bit of a sum.
#[inline(always)]
fn shift(lowest: i64, top: i16) -> i64 {
    lowest - (i64::from(top) + 1 - DIGITS as i64) * DIGIT
}

/// Digits of some neighbouring sums, at each place.
type Digits<'a, T> = [&'a mut T; DIGITS];

/// Adds a term to each of some sums; false if one of them is not finite.
fn add_terms(values: &[f64], tops: &mut [i16], digits: Digits<'_, [i64]>) -> bool {
    vectorised!((values: &[f64] = values, tops: &mut [i16] = tops, digits: Digits<'_, [i64]> = digits) -> bool {
        let ((values, last_values), (tops, last_tops)) = (values.as_chunks::<LANES>(), tops.as_chunks_mut::<LANES>());
        let [low, middle, high] = digits.map(|digits| digits.as_chunks_mut::<LANES>());
        let mut finite = true;
        let sums = tops.iter_mut().zip(low.0).zip(middle.0).zip(high.0);
        for (values, (((tops, low), middle), high)) in values.iter().zip(sums) {
            finite &= add_some(values, tops, [low, middle, high]);
        }
        let last = last_tops.iter_mut().zip(low.1).zip(middle.1).zip(high.1);
        for (&value, (((top, low), middle), high)) in last_values.iter().zip(last) {
            let digits = [low, middle, high].map(std::array::from_mut);
            finite &= add_some(&[value], std::array::from_mut(top), digits);
        }
        finite
    })
}

#[inline(always)]
fn add_some<const N: usize>(values: &[f64; N], tops: &mut [i16; N], digits: Digits<'_, [i64; N]>) -> bool {
    let mantissas = values.map(|value| parts(value).0);
    let lowest = values.map(|value| parts(value).1);
    let signs = values.map(|value| value.to_bits() as i64 >> 63);
    let shifts = |tops: &[i16; N]| std::array::from_fn::<i64, N, _>(|i| shift(lowest[i], tops[i]));
    let (mut shift, mut finite) = (shifts(tops), true);
    let highest = (0..N).fold(i64::MIN, |most, i| most.max(if mantissas[i] == 0 { i64::MIN } else { shift[i] }));
    let [low, middle, high] = digits;
    if highest > HIGHEST_SHIFT {
        finite = make_room(values, tops, [&mut *low, &mut *middle, &mut *high]);
        shift = shifts(tops);
    }
    for (place, digits) in [low, middle, high].into_iter().enumerate() {
        for i in 0..N {
            let shift = shift[i] - place as i64 * DIGIT;
            let (left, right) = (shift.clamp(0, 63), (-shift).clamp(0, 63));
            let digit = ((mantissas[i] << left) >> right & u64::from(u32::MAX)) as i64;
            digits[i] += (digit ^ signs[i]) - signs[i];
        }
    }
    finite
}

/// Raises the tops that have to be; false if a term is not finite.
#[cold]
fn make_room(values: &[f64], tops: &mut [i16], mut digits: Digits<'_, [i64]>) -> bool {
    for (i, &value) in values.iter().enumerate() {
        let (mantissa, lowest) = parts(value);
        if mantissa > 0 {
            let highest = lowest + 63 - i64::from(mantissa.leading_zeros());
            raise(i, highest.div_euclid(DIGIT) as i16, tops, &mut digits);
        }
    }
    values.iter().all(|value| value.is_finite())
}

/// Makes room for a highest digit at `top`; what falls off at the other end is dropped digit by digit.
fn raise(index: usize, top: i16, tops: &mut [i16], digits: &mut Digits<'_, [i64]>) {
    let before = tops[index];
    tops[index] = top.max(before);
    if before != NOTHING && top > before {
        let drop = (top - before) as usize;
        for place in 0..DIGITS {
            let from = place + drop;
            digits[place][index] = if from < DIGITS { digits[from][index] } else { 0 };
        }
    }
}

impl Sums {
    /// So many sums, without observations.
    pub fn new(len: usize) -> Self {
        let digits = [(); DIGITS].map(|()| vec![0; len]);
        Self { observations: 0, passes: 1, tops: vec![NOTHING; len], digits, broken: false }
    }

    /// Starts again with so many sums.
    pub fn reset(&mut self, len: usize) {
        *self = Self::new(len);
    }

    /// Becomes the sums over so many observations, on all threads: `write(index, values)` writes the statistics of one
    /// over zeros.
    pub(crate) fn collect(&mut self, len: usize, observations: usize, write: impl Fn(usize, &mut [f64]) + Sync) {
        let sum = |start: usize| {
            let (mut sums, mut values) = (Self::new(len), vec![0.0; len]);
            for index in start..(start + OBSERVATIONS_PER_TASK).min(observations) {
                values.fill(0.0);
                write(index, &mut values);
                sums.add(&values);
            }
            sums
        };
        let starts: Vec<usize> = (0..observations).step_by(OBSERVATIONS_PER_TASK).collect();
        let parts: Vec<Self> = starts.into_par_iter().map(sum).collect();
        self.reset(len);
        parts.iter().for_each(|part| self.add_all(part));
    }

    /// Adds the statistics of one observation.
    pub fn add(&mut self, values: &[f64]) {
        assert_eq!(values.len(), self.len(), "every observation has the same statistics");
        self.observations += 1;
        self.add_at(0, values);
    }

    /// Adds to the sums from `start` on, for statistics that come in parts; [`Self::count`] counts the observation.
    pub fn add_at(&mut self, start: usize, values: &[f64]) {
        let digits = self.digits.each_mut().map(|digits| &mut digits[start..][..values.len()]);
        self.broken |= !add_terms(values, &mut self.tops[start..][..values.len()], digits);
    }

    /// Counts observations whose statistics come in parts.
    pub fn count(&mut self, observations: u64) {
        self.observations += observations;
    }

    /// Number of sums.
    pub fn len(&self) -> usize {
        self.tops.len()
    }

    /// True if there is no sum.
    pub fn is_empty(&self) -> bool {
        self.tops.is_empty()
    }

    /// Refuses sums of another model than one of so many statistics.
    pub fn check_len(&self, len: usize) -> Result<()> {
        if self.len() == len {
            return Ok(());
        }
        Err(mismatch(&format!("{} sums, where the model has {len} statistics", self.len())))
    }

    /// The sums.
    pub fn totals(&self) -> Vec<f64> {
        (0..self.len()).map(|index| self.value(index)).collect()
    }

    /// The mean over observations of each number.
    pub fn mean(&self) -> Vec<f64> {
        let number = (self.observations * self.passes).max(1) as f64;
        (0..self.len()).map(|index| self.value(index) / number).collect()
    }

    fn value(&self, index: usize) -> f64 {
        if self.broken {
            return f64::NAN;
        }
        if self.tops[index] == NOTHING {
            return 0.0;
        }
        // The whole number of lowest units, rounded once; two factors, because one could leave the range.
        let digits = self.digits.iter().rev().map(|digits| i128::from(digits[index]));
        let whole = digits.fold(0_i128, |sum, digit| (sum << DIGIT) + digit);
        let exponent = -shift(0, self.tops[index]) as i32;
        let half = exponent / 2;
        whole as f64 * libm::exp2(f64::from(half)) * libm::exp2(f64::from(exponent - half))
    }

    /// Adds as many other sums.
    fn add_all(&mut self, other: &Self) {
        let mut digits = self.digits.each_mut().map(Vec::as_mut_slice);
        for index in (0..other.len()).filter(|&index| other.tops[index] != NOTHING) {
            raise(index, other.tops[index], &mut self.tops, &mut digits);
            let drop = (self.tops[index] - other.tops[index]) as usize;
            for place in drop..DIGITS {
                digits[place - drop][index] += other.digits[place][index];
            }
        }
        self.broken |= other.broken;
        self.observations += other.observations;
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
        if (self.len(), self.passes) != (other.len(), other.passes) {
            return Err(mismatch(&format!("{} sums and {}", self.len(), other.len())));
        }
        self.add_all(other);
        Ok(())
    }

    fn merge_pass(&mut self, other: &Self) {
        if self.observations == 0 {
            self.clone_from(other);
        } else {
            let observations = self.observations;
            self.add_all(other);
            self.observations = observations;
            self.passes += other.passes;
        }
    }

    fn weight(&self) -> u64 {
        self.observations
    }

    fn check(&self) -> Result<(), &'static str> {
        let terms = self.observations.saturating_mul(self.passes);
        let most = terms.saturating_mul(u64::from(u32::MAX)).min(i64::MAX as u64);
        let mut digits = self.digits.iter();
        let sound = digits.all(|digits| digits.len() == self.len() && digits.iter().all(|digit| digit.unsigned_abs() <= most));
        let empty = |index: usize| self.digits.iter().all(|digits| digits[index] == 0);
        let placed = |(index, &top): (usize, &i16)| if top == NOTHING { empty(index) } else { TOPS.contains(&top) };
        if sound && self.tops.iter().enumerate().all(placed) && !self.broken && terms <= MOST_TERMS {
            Ok(())
        } else {
            Err("an expected statistic")
        }
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

    /// The slow twin of the digits: one number after another, with all 96 bits at once.
    #[derive(Clone, Copy)]
    struct Plain {
        top: i16,
        digits: [i64; DIGITS],
    }

    impl Plain {
        fn add(&mut self, value: f64) {
            if value == 0.0 {
                return;
            }
            let (mantissa, lowest) = parts(value);
            let highest = lowest + 63 - i64::from(mantissa.leading_zeros());
            let top = highest.div_euclid(DIGIT) as i16;
            if self.top == NOTHING {
                self.top = top;
            } else if top > self.top {
                let drop = ((top - self.top) as usize).min(DIGITS);
                self.digits.copy_within(drop.., 0);
                self.digits[DIGITS - drop..].fill(0);
                self.top = top;
            }
            let shift = lowest - (i64::from(self.top) - 2) * DIGIT;
            let placed = if shift >= 0 {
                u128::from(mantissa) << shift
            } else {
                u128::from(mantissa.checked_shr(-shift as u32).unwrap_or(0))
            };
            for (place, digit) in self.digits.iter_mut().enumerate() {
                let part = i64::from((placed >> (32 * place)) as u32);
                *digit += if value < 0.0 { -part } else { part };
            }
        }
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

    /// Rows of any length, of which eight numbers are added at a time: the digits are those of the plain twin.
    #[test]
    fn rows_have_the_digits_of_the_plain_twin() {
        let mut random = Seed(3).stream(Purpose::Initial, [0, 0]);
        for len in [1, 7, 8, 19, 40] {
            let (mut sums, mut plain) = (Sums::new(len), vec![Plain { top: NOTHING, digits: [0; DIGITS] }; len]);
            for spread in [1.0, 30.0, 2_000.0] {
                for _ in 0..50 {
                    let mut value = || {
                        let size = (spread * (random.uniform() - 0.5)).clamp(-1_060.0, 1_000.0);
                        [0.0, 2.0 * random.uniform() - 1.0][random.below(2)] * libm::exp2(size)
                    };
                    let row: Vec<f64> = (0..len).map(|_| value()).collect();
                    sums.add(&row);
                    plain.iter_mut().zip(&row).for_each(|(sum, &value)| sum.add(value));
                }
            }
            for (index, plain) in plain.iter().enumerate() {
                assert_eq!(sums.tops[index], plain.top, "{index} of {len}");
                assert_eq!(sums.digits.each_ref().map(|digits| digits[index]), plain.digits, "{index} of {len}");
            }
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
