//! Sixteen single-precision numbers handled together, for the sampler.
//!
//! Three implementations of the same few operations, each rounding exactly as the others do: no multiplication is
//! fused with an addition, and running sums add in one order that is written down. Which one runs is the business
//! of [`vectorised!`](crate::numerics::vectorised).

use crate::numerics::math::add_lanes;

/// Numbers handled together.
pub(crate) const WIDTH: usize = 16;

/// A row of numbers as the sampler holds it.
pub(crate) type Block = [f32; WIDTH];

/// Sixteen numbers. A mask has one bit per number, the first lowest.
///
/// # Safety
///
/// An implementation may use instructions that not every processor has. Who implements it promises that its type is
/// named only by [`vectorised!`](crate::numerics::vectorised), which asks the processor first.
#[allow(unsafe_code, reason = "its methods may be called only on processors that have their instructions")]
pub(crate) unsafe trait Lanes: Copy {
    fn load(block: &Block) -> Self;
    fn store(self, block: &mut Block);
    fn splat(value: f32) -> Self;
    /// Sixteen products, rounded to single precision.
    fn rounded(values: &[f64; WIDTH], factor: f64) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn max(self, other: Self) -> Self;
    /// Adds where the mask has a bit.
    fn add_where(self, mask: u32, other: Self) -> Self;
    /// Subtracts where the mask has a bit.
    fn sub_where(self, mask: u32, other: Self) -> Self;
    /// Where a number is at most the other one.
    fn at_most(self, other: Self) -> u32;
    /// The last number, sixteen times.
    fn last(self) -> Self;
    /// The last number.
    #[inline(always)]
    fn end(self) -> f32 {
        let mut block = [0.0; WIDTH];
        self.store(&mut block);
        block[WIDTH - 1]
    }
    /// Sums of the numbers up to each one: inside fours by doubling, then plus the sums of the fours before it.
    fn running_sums(self) -> Self;
    /// Sum of products in double precision: down the blocks in sixteen lanes, then across them.
    fn dot(a: &[Block], b: &[Block]) -> f64;
}

/// Adds sixteen lanes, given in halves.
#[inline(always)]
fn across(low: [f64; WIDTH / 2], high: [f64; WIDTH / 2]) -> f64 {
    add_lanes(std::array::from_fn(|lane| low[lane] + high[lane]))
}

/// Lanes in which a mask may have bits.
pub(crate) const ALL: u32 = (1 << WIDTH) - 1;

/// Products, or other weights, summed down the blocks lane by lane, and across the lanes of the last one: finds
/// where a running sum passes a number, with comparisons instead of branches.
#[derive(Clone, Copy)]
pub(crate) struct Sums<V, const N: usize> {
    down: [V; N],
    across: V,
}

impl<V: Lanes, const N: usize> Sums<V, N> {
    /// Sums of the numbers that `weight` gives for each block.
    #[inline(always)]
    pub(crate) fn new(weight: impl Fn(usize) -> V) -> Self {
        let mut down = [weight(0); N];
        for block in 1..N {
            down[block] = down[block - 1].add(weight(block));
        }
        Self { down, across: down[N - 1].running_sums() }
    }

    /// As if `weight` were added to the number in `slot`, counted block by block.
    #[inline(always)]
    pub(crate) fn with_more(mut self, slot: u32, weight: V) -> Self {
        let lane = slot % WIDTH as u32;
        self.across = self.across.add_where(ALL << lane & ALL, weight);
        for block in 0..N {
            let reached = u32::from(slot / WIDTH as u32 <= block as u32);
            self.down[block] = self.down[block].add_where(reached << lane, weight);
        }
        self
    }

    /// The sum of all, in every lane.
    #[inline(always)]
    pub(crate) fn total(&self) -> V {
        self.across.last()
    }

    /// How far `at` is past what comes before a lane.
    #[inline(always)]
    pub(crate) fn inside(&self, lane: u32, at: V) -> f32 {
        let mut block = [0.0; WIDTH];
        self.past(at).store(&mut block);
        block[lane as usize]
    }

    #[inline(always)]
    fn past(&self, at: V) -> V {
        let before = self.across.sub(self.down[N - 1]);
        at.sub(before).max(V::splat(0.0))
    }

    /// Where the running sum, lane after lane, passes `at`, which is the same in every lane.
    #[inline(always)]
    pub(crate) fn find(&self, at: V) -> Found {
        let passed = self.across.at_most(at);
        if passed == ALL {
            return Found::Beyond;
        }
        let lane = (!passed).trailing_zeros();
        let inside = self.past(at);
        let mut block = 0;
        for sum in &self.down {
            block += sum.at_most(inside) >> lane & 1;
        }
        if block < N as u32 { Found::Slot(block * WIDTH as u32 + lane) } else { Found::Lane(lane) }
    }
}

/// Where a running sum passes a number.
#[derive(Clone, Copy)]
pub(crate) enum Found {
    /// Here; the number in this place is positive.
    Slot(u32),
    /// In this lane, but rounding hides where.
    Lane(u32),
    /// Nowhere: it is not less than the sum of all.
    Beyond,
}

/// The numbers as they are, for any processor.
#[derive(Clone, Copy)]
pub(crate) struct Plain(Block);

impl Plain {
    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(f32, f32) -> f32) -> Self {
        Self(std::array::from_fn(|i| f(self.0[i], other.0[i])))
    }
}

#[allow(unsafe_code, reason = "every processor has what it uses")]
// SAFETY: nothing here needs instructions that a processor may lack.
unsafe impl Lanes for Plain {
    #[inline(always)]
    fn load(block: &Block) -> Self {
        Self(*block)
    }

    #[inline(always)]
    fn store(self, block: &mut Block) {
        *block = self.0;
    }

    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self([value; WIDTH])
    }

    #[inline(always)]
    fn rounded(values: &[f64; WIDTH], factor: f64) -> Self {
        Self(values.map(|value| (value * factor) as f32))
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.zip(other, |a, b| if a > b { a } else { b })
    }

    #[inline(always)]
    fn add_where(self, mask: u32, other: Self) -> Self {
        Self(std::array::from_fn(|i| if mask >> i & 1 == 1 { self.0[i] + other.0[i] } else { self.0[i] }))
    }

    #[inline(always)]
    fn sub_where(self, mask: u32, other: Self) -> Self {
        Self(std::array::from_fn(|i| if mask >> i & 1 == 1 { self.0[i] - other.0[i] } else { self.0[i] }))
    }

    #[inline(always)]
    fn at_most(self, other: Self) -> u32 {
        (0..WIDTH).fold(0, |mask, i| mask | u32::from(self.0[i] <= other.0[i]) << i)
    }

    #[inline(always)]
    fn last(self) -> Self {
        Self::splat(self.0[WIDTH - 1])
    }

    #[inline(always)]
    fn running_sums(self) -> Self {
        let shift = |v: &Block, by: usize| -> Block {
            std::array::from_fn(|i| if i % 4 >= by { v[i - by] } else { 0.0 })
        };
        let v = self.add(Self(shift(&self.0, 1)));
        let v = v.add(Self(shift(&v.0, 2)));
        let four = |back: usize| -> Block {
            std::array::from_fn(|i| if i / 4 >= back { v.0[(i / 4 - back) * 4 + 3] } else { 0.0 })
        };
        v.add(Self(four(1)).add(Self(four(2))).add(Self(four(3))))
    }

    #[inline(always)]
    fn dot(a: &[Block], b: &[Block]) -> f64 {
        let mut halves = [[0.0; WIDTH / 2]; 2];
        for (a, b) in a.iter().zip(b) {
            for (lane, sum) in halves.as_flattened_mut().iter_mut().enumerate() {
                *sum += f64::from(a[lane]) * f64::from(b[lane]);
            }
        }
        across(halves[0], halves[1])
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code, reason = "instructions that the processor was found to have, on whole blocks")]
mod x86 {
    // SAFETY, for every block here: the types are named by `vectorised!` alone, inside functions that run only
    // after the processor was found to have the instructions; loads and stores touch one `Block`.
    use super::{Block, Lanes, WIDTH, across};
    #[allow(clippy::wildcard_imports, reason = "sixty instructions by name say no more")]
    use std::arch::x86_64::*;

    /// The numbers in one vector of 512 bits.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx512(__m512);

    // SAFETY: only `vectorised!` names this type, where the processor has AVX-512.
    unsafe impl Lanes for Avx512 {
        #[inline(always)]
        fn load(block: &Block) -> Self {
            Self(unsafe { _mm512_loadu_ps(block.as_ptr()) })
        }

        #[inline(always)]
        fn store(self, block: &mut Block) {
            unsafe { _mm512_storeu_ps(block.as_mut_ptr(), self.0) }
        }

        #[inline(always)]
        fn splat(value: f32) -> Self {
            Self(unsafe { _mm512_set1_ps(value) })
        }

        #[inline(always)]
        fn rounded(values: &[f64; WIDTH], factor: f64) -> Self {
            unsafe {
                let factor = _mm512_set1_pd(factor);
                let half = |from: usize| {
                    let values = _mm512_loadu_pd(values[from..].as_ptr());
                    _mm512_cvtpd_ps(_mm512_mul_pd(values, factor))
                };
                Self(_mm512_insertf32x8::<1>(_mm512_castps256_ps512(half(0)), half(8)))
            }
        }

        #[inline(always)]
        fn add(self, other: Self) -> Self {
            Self(unsafe { _mm512_add_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            Self(unsafe { _mm512_sub_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn mul(self, other: Self) -> Self {
            Self(unsafe { _mm512_mul_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn max(self, other: Self) -> Self {
            Self(unsafe { _mm512_max_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn add_where(self, mask: u32, other: Self) -> Self {
            Self(unsafe { _mm512_mask_add_ps(self.0, mask as u16, self.0, other.0) })
        }

        #[inline(always)]
        fn sub_where(self, mask: u32, other: Self) -> Self {
            Self(unsafe { _mm512_mask_sub_ps(self.0, mask as u16, self.0, other.0) })
        }

        #[inline(always)]
        fn at_most(self, other: Self) -> u32 {
            u32::from(unsafe { _mm512_cmp_ps_mask::<_CMP_LE_OQ>(self.0, other.0) })
        }

        #[inline(always)]
        fn last(self) -> Self {
            Self(unsafe { _mm512_permutexvar_ps(_mm512_set1_epi32(15), self.0) })
        }

        #[inline(always)]
        fn running_sums(self) -> Self {
            unsafe {
                let bits = _mm512_castps_si512(self.0);
                let v = _mm512_add_ps(self.0, _mm512_castsi512_ps(_mm512_bslli_epi128::<4>(bits)));
                let bits = _mm512_castps_si512(v);
                let v = _mm512_add_ps(v, _mm512_castsi512_ps(_mm512_bslli_epi128::<8>(bits)));
                let four = _mm512_permute_ps::<0xff>(v);
                let one_back = _mm512_maskz_shuffle_f32x4::<0b10_01_00_00>(0xfff0, four, four);
                let two_back = _mm512_maskz_shuffle_f32x4::<0b01_00_00_00>(0xff00, four, four);
                let three_back = _mm512_maskz_shuffle_f32x4::<0b00_00_00_00>(0xf000, four, four);
                Self(_mm512_add_ps(v, _mm512_add_ps(_mm512_add_ps(one_back, two_back), three_back)))
            }
        }

        #[inline(always)]
        fn dot(a: &[Block], b: &[Block]) -> f64 {
            unsafe {
                let (mut low, mut high) = (_mm512_setzero_pd(), _mm512_setzero_pd());
                for (a, b) in a.iter().zip(b) {
                    let half =
                        |block: &Block, from: usize| _mm512_cvtps_pd(_mm256_loadu_ps(block[from..].as_ptr()));
                    low = _mm512_add_pd(low, _mm512_mul_pd(half(a, 0), half(b, 0)));
                    high = _mm512_add_pd(high, _mm512_mul_pd(half(a, 8), half(b, 8)));
                }
                let mut halves = [[0.0; 8]; 2];
                _mm512_storeu_pd(halves[0].as_mut_ptr(), low);
                _mm512_storeu_pd(halves[1].as_mut_ptr(), high);
                across(halves[0], halves[1])
            }
        }
    }

    /// The numbers in two vectors of 256 bits.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx2(__m256, __m256);

    /// Ones where the eight lowest bits of the mask are.
    #[inline(always)]
    fn lanes_of(mask: u32) -> __m256 {
        unsafe {
            let bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
            let hit = _mm256_and_si256(_mm256_set1_epi32(mask as i32), bits);
            _mm256_castsi256_ps(_mm256_cmpeq_epi32(hit, bits))
        }
    }

    /// Running sums inside fours.
    #[inline(always)]
    fn inside_fours(v: __m256) -> __m256 {
        unsafe {
            let v = _mm256_add_ps(v, _mm256_castsi256_ps(_mm256_bslli_epi128::<4>(_mm256_castps_si256(v))));
            _mm256_add_ps(v, _mm256_castsi256_ps(_mm256_bslli_epi128::<8>(_mm256_castps_si256(v))))
        }
    }

    impl Avx2 {
        #[inline(always)]
        fn zip(self, other: Self, f: impl Fn(__m256, __m256) -> __m256) -> Self {
            Self(f(self.0, other.0), f(self.1, other.1))
        }
    }

    // SAFETY: only `vectorised!` names this type, where the processor has AVX2.
    unsafe impl Lanes for Avx2 {
        #[inline(always)]
        fn load(block: &Block) -> Self {
            let (low, high) = block.split_at(8);
            unsafe { Self(_mm256_loadu_ps(low.as_ptr()), _mm256_loadu_ps(high.as_ptr())) }
        }

        #[inline(always)]
        fn store(self, block: &mut Block) {
            let (low, high) = block.split_at_mut(8);
            unsafe {
                _mm256_storeu_ps(low.as_mut_ptr(), self.0);
                _mm256_storeu_ps(high.as_mut_ptr(), self.1);
            }
        }

        #[inline(always)]
        fn splat(value: f32) -> Self {
            let all = unsafe { _mm256_set1_ps(value) };
            Self(all, all)
        }

        #[inline(always)]
        fn rounded(values: &[f64; WIDTH], factor: f64) -> Self {
            unsafe {
                let factor = _mm256_set1_pd(factor);
                let quarter = |from: usize| {
                    let values = _mm256_loadu_pd(values[from..].as_ptr());
                    _mm256_cvtpd_ps(_mm256_mul_pd(values, factor))
                };
                Self(_mm256_set_m128(quarter(4), quarter(0)), _mm256_set_m128(quarter(12), quarter(8)))
            }
        }

        #[inline(always)]
        fn add(self, other: Self) -> Self {
            self.zip(other, |a, b| unsafe { _mm256_add_ps(a, b) })
        }

        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            self.zip(other, |a, b| unsafe { _mm256_sub_ps(a, b) })
        }

        #[inline(always)]
        fn mul(self, other: Self) -> Self {
            self.zip(other, |a, b| unsafe { _mm256_mul_ps(a, b) })
        }

        #[inline(always)]
        fn max(self, other: Self) -> Self {
            self.zip(other, |a, b| unsafe { _mm256_max_ps(a, b) })
        }

        #[inline(always)]
        fn add_where(self, mask: u32, other: Self) -> Self {
            // Adding zero changes no bit: nothing here is minus zero.
            let chosen = |values, mask| unsafe { _mm256_and_ps(values, lanes_of(mask)) };
            self.add(Self(chosen(other.0, mask), chosen(other.1, mask >> 8)))
        }

        #[inline(always)]
        fn sub_where(self, mask: u32, other: Self) -> Self {
            let chosen = |values, mask| unsafe { _mm256_and_ps(values, lanes_of(mask)) };
            self.sub(Self(chosen(other.0, mask), chosen(other.1, mask >> 8)))
        }

        #[inline(always)]
        fn at_most(self, other: Self) -> u32 {
            let mask = |a, b| unsafe { _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LE_OQ>(a, b)) as u32 };
            mask(self.0, other.0) | mask(self.1, other.1) << 8
        }

        #[inline(always)]
        fn last(self) -> Self {
            let all = unsafe { _mm256_permutevar8x32_ps(self.1, _mm256_set1_epi32(7)) };
            Self(all, all)
        }

        #[inline(always)]
        fn running_sums(self) -> Self {
            unsafe {
                let (low, high) = (inside_fours(self.0), inside_fours(self.1));
                let (low_four, high_four) = (_mm256_permute_ps::<0xff>(low), _mm256_permute_ps::<0xff>(high));
                // Sums of the fours: [t0, t1] and [t2, t3]; what each four adds is ((t-1 + t-2) + t-3).
                let zero_t0 = _mm256_permute2f128_ps::<0x08>(low_four, low_four);
                let t1_t2 = _mm256_permute2f128_ps::<0x21>(low_four, high_four);
                let before_high = _mm256_add_ps(_mm256_add_ps(t1_t2, low_four), zero_t0);
                Self(_mm256_add_ps(low, zero_t0), _mm256_add_ps(high, before_high))
            }
        }

        #[inline(always)]
        fn dot(a: &[Block], b: &[Block]) -> f64 {
            unsafe {
                let mut lanes = [_mm256_setzero_pd(); 4];
                for (a, b) in a.iter().zip(b) {
                    for (quarter, sum) in lanes.iter_mut().enumerate() {
                        let part =
                            |block: &Block| _mm256_cvtps_pd(_mm_loadu_ps(block[4 * quarter..].as_ptr()));
                        *sum = _mm256_add_pd(*sum, _mm256_mul_pd(part(a), part(b)));
                    }
                }
                let mut halves = [[0.0; 8]; 2];
                for (out, sum) in halves.as_flattened_mut().chunks_exact_mut(4).zip(lanes) {
                    _mm256_storeu_pd(out.as_mut_ptr(), sum);
                }
                across(halves[0], halves[1])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::random::{Purpose, Seed};
    use crate::numerics::vectorised::{Width, width};

    /// All operations on a pair of rows, as bits.
    fn everything<V: Lanes>(a: &Block, b: &Block, mask: u32) -> Vec<u32> {
        let (x, y) = (V::load(a), V::load(b));
        let results = [
            x.add(y),
            x.sub(y),
            x.mul(y),
            x.max(y),
            x.add_where(mask, y),
            x.sub_where(mask, y),
            x.last(),
            x.running_sums(),
            V::splat(a[3]),
            V::rounded(&a.map(|value| f64::from(value) / 3.0), 0.7),
        ];
        let mut bits = vec![x.at_most(y)];
        for result in results {
            let mut block = [0.0; WIDTH];
            result.store(&mut block);
            bits.extend(block.map(f32::to_bits));
        }
        let dot = V::dot(&[*a, *b], &[*b, *b]).to_bits();
        bits.extend([dot as u32, (dot >> 32) as u32]);
        bits
    }

    #[test]
    fn all_versions_round_alike() {
        let mut random = Seed(3).stream(Purpose::Initial, [0, 0]);
        for _ in 0..2_000 {
            let mut row = || {
                std::array::from_fn(|_| {
                    let size = libm::exp(20.0 * random.uniform() - 10.0);
                    if random.uniform() < 0.2 { 0.0 } else { size as f32 }
                })
            };
            let (a, b) = (row(), row());
            let mask = random.below(1 << WIDTH) as u32;
            let plain = everything::<Plain>(&a, &b, mask);
            #[cfg(target_arch = "x86_64")]
            {
                if width() != Width::Base {
                    assert_eq!(plain, everything::<Avx2>(&a, &b, mask));
                }
                if width() == Width::Avx512 {
                    assert_eq!(plain, everything::<Avx512>(&a, &b, mask));
                }
            }
        }
    }

    #[test]
    fn running_sums_are_running_sums() {
        let row: Block = std::array::from_fn(|i| (1 << i) as f32);
        let mut sums = [0.0; WIDTH];
        Plain::load(&row).running_sums().store(&mut sums);
        for (i, sum) in sums.into_iter().enumerate() {
            assert_eq!(sum, ((2 << i) - 1) as f32);
        }
    }
}
