//! Runs hot loops in a version compiled for the wide vectors of the processor at hand.
//!
//! All loops that run here work on fixed lanes and never fuse a multiplication with an addition, so every version
//! computes the same bits; only the number of lanes that one instruction handles differs.

/// The widest vectors of this processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Width {
    /// Whatever the target always has.
    Base,
    /// 256 bits.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// 512 bits.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

/// The version to run.
#[inline]
pub(crate) fn width() -> Width {
    #[cfg(test)]
    let widest = widest().min(tests::limit());
    #[cfg(not(test))]
    let widest = {
        static CHOSEN: std::sync::OnceLock<Width> = std::sync::OnceLock::new();
        *CHOSEN.get_or_init(|| widest().min(allowed()))
    };
    widest
}

/// What other processors would run: `GIBBSTREAM_VECTORS` is `base` or `avx2`.
#[cfg(not(test))]
fn allowed() -> Width {
    match std::env::var("GIBBSTREAM_VECTORS").as_deref() {
        Ok("base") => Width::Base,
        #[cfg(target_arch = "x86_64")]
        Ok("avx2") => Width::Avx2,
        _ => widest(),
    }
}

/// Looks the processor up; the standard library remembers the answer.
#[inline]
fn widest() -> Width {
    #[cfg(target_arch = "x86_64")]
    {
        let has_avx512 = std::is_x86_feature_detected!("avx512f")
            && std::is_x86_feature_detected!("avx512vl")
            && std::is_x86_feature_detected!("avx512dq")
            && std::is_x86_feature_detected!("avx512bw");
        if has_avx512 {
            return Width::Avx512;
        }
        if std::is_x86_feature_detected!("avx2") {
            return Width::Avx2;
        }
    }
    Width::Base
}

/// Asks for a line of numbers that will be used soon. A loop over one row asks for the next row as it goes: rows lie far
/// apart, and the processor, which foresees only what follows in the same page, would wait at the start of each.
#[inline(always)]
pub(crate) fn prefetch<T>(line: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        #[allow(unsafe_code, reason = "a hint, which changes nothing")]
        // SAFETY: the address is that of a reference, and prefetching never faults.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(line).cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = line;
}

/// Evaluates a block, compiled once for each [`Width`], in the version for this processor. What the block uses is
/// listed with its type: `vectorised!((a: &[f64] = values, b: f64 = weight) -> f64 { ... })`. With a name in front,
/// `vectorised!(V: (...) -> ...)`, the block can use `V` as the [`Lanes`](crate::numerics::lanes::Lanes) of that version.
macro_rules! vectorised {
    (($($name:ident : $type:ty = $value:expr),* $(,)?) -> $result:ty $body:block) => {
        $crate::numerics::vectorised::vectorised!(_V: ($($name: $type = $value),*) -> $result $body)
    };
    ($lanes:ident: ($($name:ident : $type:ty = $value:expr),* $(,)?) -> $result:ty $body:block) => {{
        #[inline(always)]
        fn base<$lanes: $crate::numerics::lanes::Lanes>($($name: $type),*) -> $result $body
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2")]
        fn avx2($($name: $type),*) -> $result { base::<$crate::numerics::lanes::Avx2>($($name),*) }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2")]
        fn avx512($($name: $type),*) -> $result { base::<$crate::numerics::lanes::Avx512>($($name),*) }
        match $crate::numerics::vectorised::width() {
            $crate::numerics::vectorised::Width::Base => base::<$crate::numerics::lanes::Plain>($($value),*),
            #[cfg(target_arch = "x86_64")]
            #[allow(unsafe_code, reason = "the processor was found to have these instructions")]
            // SAFETY: as the reason says.
            $crate::numerics::vectorised::Width::Avx2 => unsafe { avx2($($value),*) },
            #[cfg(target_arch = "x86_64")]
            #[allow(unsafe_code, reason = "the processor was found to have these instructions")]
            // SAFETY: as the reason says.
            $crate::numerics::vectorised::Width::Avx512 => unsafe { avx512($($value),*) },
        }
    }};
}

pub(crate) use vectorised;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::{Document, Length, Minibatch, Synthetic, Truth};
    use crate::evaluation::{Evaluation, Scorer, Unigram};
    use crate::learn::Settings;
    use crate::learn::method::Method;
    use crate::numerics::random::Seed;
    use crate::learn::trainer::Trainer;
    use std::sync::atomic::{AtomicU8, Ordering};

    /// Versions that tests may run: 0 the base alone, 1 up to AVX2, 2 all. Other tests may run meanwhile, but they see
    /// the same bits whatever this is.
    static LIMIT: AtomicU8 = AtomicU8::new(2);

    pub(crate) fn limit() -> Width {
        match LIMIT.load(Ordering::Relaxed) {
            0 => Width::Base,
            #[cfg(target_arch = "x86_64")]
            1 => Width::Avx2,
            _ => widest(),
        }
    }

    /// Training and evaluation end in the same bits in every version that this processor can run.
    #[test]
    fn all_versions_learn_the_same_bits() {
        let truth = Truth::random(20, 300, 0.1, 0.1, Seed(1)).unwrap();
        let documents: Vec<Document> = Synthetic::new(truth, Length::Poisson(60.0), Seed(2), 60)
            .unwrap()
            .collect::<crate::Result<_>>()
            .unwrap();
        for (method, topics) in [("g-oem", 40), ("g-oem", 333), ("olda", 21), ("g-oem++", 21)] {
            let results: Vec<(String, u64)> = (0..3)
                .map(|limit| {
                    LIMIT.store(limit, Ordering::Relaxed);
                    let method = Method::published(method).unwrap().with_population(60.0);
                    let settings =
                        Settings::new(topics).method("test", method).vocabulary(300).batch(20).seed(3);
                    let mut trainer = Trainer::new(settings, 2).unwrap();
                    for (i, documents) in documents.chunks(20).enumerate() {
                        trainer.partial_fit(&Minibatch::new(documents, 20 * i as u64, 0)).unwrap();
                    }
                    let unigram = Unigram::from_counts(trainer.word_counts().to_vec());
                    let topics = trainer.topics().unwrap();
                    let scorer = Scorer::new(Evaluation::default(), &topics, &unigram).unwrap();
                    let score = scorer.score(documents[..5].iter().cloned().map(Ok)).unwrap();
                    (trainer.fitted().unwrap().hash(), score.log_perplexity_per_document.to_bits())
                })
                .collect();
            assert_eq!(results[0], results[1], "{method}");
            assert_eq!(results[0], results[2], "{method}");
        }
    }
}
