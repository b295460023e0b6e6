//! The share of each topic in a class of documents (a period, a group), with an interval.

/// Ends of a 95 % interval, in standard errors.
const STANDARD_ERRORS: f64 = 1.959_963_984_540_054;

/// Sums over the documents of a class, from which shares and their errors follow.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ClassMoments {
    pub documents: u64,
    pub tokens: u64,
    /// Sum of the squares of document lengths.
    squares: f64,
    /// For each topic, with n the length of a document and s its share there: sums of n s, (n s)^2 and n^2 s.
    topics: Vec<[f64; 3]>,
}

/// A share of a topic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Share {
    pub mean: f64,
    /// The interval; there is none with fewer than two documents.
    pub ends: Option<[f64; 2]>,
}

impl ClassMoments {
    /// Adds a document of so many tokens.
    pub fn add(&mut self, tokens: u64, shares: &[f64]) {
        self.documents += 1;
        self.tokens += tokens;
        let n = tokens as f64;
        self.squares += n * n;
        self.topics.resize(shares.len(), [0.0; 3]);
        for (sums, share) in self.topics.iter_mut().zip(shares) {
            let part = n * share;
            sums[0] += part;
            sums[1] += part * part;
            sums[2] += n * part;
        }
    }

    /// Share of the tokens of a topic; `None` if there are no tokens. Documents, not tokens, are drawn independently, so
    /// the error is that of a ratio of sums over documents; the interval is symmetric in log odds, so that it stays
    /// between 0 and 1.
    pub fn share(&self, topic: usize) -> Option<Share> {
        if self.tokens == 0 {
            return None;
        }
        let (n, documents) = (self.tokens as f64, self.documents as f64);
        let [sum, squares, products] = self.topics.get(topic).copied().unwrap_or_default();
        let mean = (sum / n).clamp(0.0, 1.0);
        let ends = (self.documents > 1).then(|| {
            let residuals = (squares - 2.0 * mean * products + mean * mean * self.squares).max(0.0);
            let error = (residuals * documents / (documents - 1.0)).sqrt() / n;
            let room = mean * (1.0 - mean);
            if room <= 0.0 {
                return [mean, mean];
            }
            // Odds times and over exp(half), written so that rounding can never put an end on the wrong side of the share.
            let grown = libm::expm1(STANDARD_ERRORS * error / room);
            let low = mean / (1.0 + grown * (1.0 - mean));
            let high = if grown.is_finite() { mean * ((1.0 + grown) / (1.0 + grown * mean)) } else { 1.0 };
            [low, high.min(1.0)]
        });
        Some(Share { mean, ends })
    }
}

/// Means, lower ends and upper ends for every topic and class.
pub(crate) type ShareTable = [Vec<Vec<Option<f64>>>; 3];

/// The table of shares of classes, where a class without documents is `None`.
pub(crate) fn share_table(topics: usize, classes: &[Option<&ClassMoments>]) -> ShareTable {
    let mut table: ShareTable = Default::default();
    for topic in 0..topics {
        let shares: Vec<Option<Share>> =
            classes.iter().map(|class| class.and_then(|class| class.share(topic))).collect();
        table[0].push(shares.iter().map(|share| share.map(|share| share.mean)).collect());
        for end in 0..2 {
            table[1 + end].push(shares.iter().map(|share| share.and_then(|share| Some(share.ends?[end]))).collect());
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::random::{Purpose, Seed};

    #[test]
    fn shares_are_those_of_tokens() {
        let mut class = ClassMoments::default();
        assert_eq!(class.share(0), None);
        class.add(10, &[0.5, 0.5]);
        assert_eq!(class.share(1), Some(Share { mean: 0.5, ends: None }));
        class.add(30, &[0.9, 0.1]);
        let share = class.share(0).unwrap();
        assert!((share.mean - (5.0 + 27.0) / 40.0).abs() < 1e-12);
        let [low, high] = share.ends.unwrap();
        assert!(0.0 < low && low < share.mean && share.mean < high && high < 1.0);
        let table = share_table(2, &[Some(&class), None]);
        assert_eq!(table[0][0], [Some(share.mean), None]);
        assert_eq!(table[2][0], [Some(high), None]);
    }

    /// The standard error against the definition, document by document.
    #[test]
    fn errors_equal_the_sum_over_documents() {
        let mut random = Seed(4).stream(Purpose::Initial, [0, 0]);
        let documents: Vec<(u64, f64)> = (0..50).map(|_| (1 + random.below(90) as u64, random.uniform())).collect();
        let mut class = ClassMoments::default();
        documents.iter().for_each(|&(n, share)| class.add(n, &[share, 1.0 - share]));
        let found = class.share(0).unwrap();
        let total: f64 = documents.iter().map(|&(n, _)| n as f64).sum();
        let squares: f64 = documents
            .iter()
            .map(|&(n, share)| {
                let residual = n as f64 * (share - found.mean);
                residual * residual
            })
            .sum();
        let error = (squares * 50.0 / 49.0).sqrt() / total;
        let logit = |p: f64| libm::log(p / (1.0 - p));
        let [low, high] = found.ends.unwrap();
        let expected = 2.0 * STANDARD_ERRORS * error / (found.mean * (1.0 - found.mean));
        assert!((logit(high) - logit(low) - expected).abs() < 1e-9);
    }

    /// Documents that all have the same shares leave no error but that of rounding; single tokens leave most.
    #[test]
    fn shares_lie_in_their_intervals_whatever_is_rounded() {
        let mut random = Seed(6).stream(Purpose::Initial, [0, 0]);
        for round in 0..20_000 {
            let (common, spread) = (random.uniform(), [0.0, 1e-9, 1e-3, 1.0][round % 4]);
            let mut class = ClassMoments::default();
            for _ in 0..2 + random.below(20) {
                let share = common + spread * (random.uniform() - common);
                class.add(1 + random.below(1000) as u64, &[share, 1.0 - share, share * 1e-12, share * 1e-300]);
            }
            for topic in 0..4 {
                let Share { mean, ends } = class.share(topic).unwrap();
                let [low, high] = ends.unwrap();
                assert!(0.0 <= low && low <= mean && mean <= high && high <= 1.0, "{low} {mean} {high}");
            }
        }
    }

    /// 95 % intervals hold the truth in 95 % of 2,000 classes of 60 documents; the standard error of that share is 0.5 %,
    /// so the bounds are 5 standard errors away, plus 1.5 % for so few documents.
    #[test]
    fn intervals_hold_the_truth_as_often_as_they_promise() {
        let mut random = Seed(5).stream(Purpose::Initial, [0, 0]);
        let mut held = 0;
        for _ in 0..2000 {
            let mut class = ClassMoments::default();
            for _ in 0..60 {
                let mut theta = [0.0; 2];
                random.dirichlet(&[0.6, 1.4], &mut theta);
                class.add(20 + random.below(60) as u64, &theta);
            }
            let [low, high] = class.share(0).unwrap().ends.unwrap();
            held += u32::from(low <= 0.3 && 0.3 <= high);
        }
        assert!((1830..=1950).contains(&held), "{held} of 2000");
    }
}
