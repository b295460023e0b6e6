//! Statistics of topics that come and go: columns are added and dropped, and topics that say the same become one.

use crate::model::topics::counts::TopicStats;
use rayon::prelude::*;

impl TopicStats {
    /// Rearranges the topics: topic k becomes what topic `columns[k]` was, or one without counts. Not for statistics
    /// that are averaged.
    pub fn rearrange(&mut self, columns: &[Option<usize>]) {
        debug_assert!(self.average.is_none());
        let (old, words) = (self.topics, self.words());
        let mut scaled = vec![0.0; words * columns.len()];
        let rows = scaled.par_chunks_exact_mut(columns.len()).zip(self.scaled.par_chunks_exact(old));
        rows.with_min_len(256).for_each(|(row, old)| {
            for (value, column) in row.iter_mut().zip(columns) {
                *value = column.map_or(0.0, |column| old[column]);
            }
        });
        self.totals = columns.iter().map(|column| column.map_or(0.0, |column| self.totals[column])).collect();
        (self.scaled, self.topics) = (scaled, columns.len());
    }

    /// How much each topic says the same as `topic`: the correlation, over all tokens, of what words weigh in the one
    /// and in the other compared with all topics together. Common words therefore do not count. A topic of few tokens
    /// (`documents` is the number that the counts are means of) varies by chance; that part of its variance is taken
    /// out. `None` if nothing remains: then the topic says nothing of its own.
    pub fn likeness(&self, topic: usize, documents: f64) -> Option<Vec<f64>> {
        const ROWS: usize = 512;
        let all: f64 = self.totals.iter().sum();
        let factors: Vec<f64> = self.totals.iter().map(|total| 1.0 / total.max(f64::MIN_POSITIVE)).collect();
        // Sums over some words, for each topic: of ratio^2, of ratio times that of the topic, and of ratio / tokens.
        let part = |rows: &[f64]| {
            let mut sums = vec![[0.0; 3]; self.topics];
            for row in rows.chunks_exact(self.topics) {
                let word: f64 = row.iter().sum();
                if word <= 0.0 {
                    continue;
                }
                let own = row[topic] * factors[topic] * all / word;
                for ((sums, value), factor) in sums.iter_mut().zip(row).zip(&factors) {
                    let weight = value * factor;
                    sums[0] += weight * weight * all / word;
                    sums[1] += weight * own;
                    sums[2] += weight * all / word;
                }
            }
            sums
        };
        let parts: Vec<Vec<[f64; 3]>> = self.scaled.par_chunks(ROWS * self.topics).map(part).collect();
        let mut sums = vec![[0.0; 3]; self.topics];
        for part in parts {
            sums.iter_mut().zip(part).for_each(|(sum, part)| (0..3).for_each(|i| sum[i] += part[i]));
        }
        let chance = |k: usize| sums[k][2] / (self.totals[k] * self.scale * documents);
        let variance = |k: usize| sums[k][0] - 1.0 - chance(k);
        let own = variance(topic);
        if own <= 0.0 {
            return None;
        }
        let correlation = |k: usize| match variance(k) {
            variance if variance > 0.0 => (sums[k][1] - 1.0) / (variance * own).sqrt(),
            _ => 0.0,
        };
        Some((0..self.topics).map(correlation).collect())
    }

    /// Adds the counts of topic `from` to those of topic `to`; nothing is left in `from`.
    pub fn merge(&mut self, from: usize, to: usize) {
        debug_assert!(self.average.is_none());
        for row in self.scaled.chunks_exact_mut(self.topics) {
            row[to] += std::mem::take(&mut row[from]);
        }
        self.totals[to] += std::mem::take(&mut self.totals[from]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::random::{Purpose, Seed};

    /// Expected counts per document of 400 words: two topics with the words of one, one with others, one with all.
    fn stats(documents: f64) -> TopicStats {
        let mut random = Seed(4).stream(Purpose::Initial, [0, 0]);
        let mut counts = Vec::new();
        for word in 0..400 {
            let group = if word < 200 { [0.5, 0.25, 0.0, 0.5] } else { [0.0, 0.0, 0.5, 0.5] };
            let tokens = |mean: f64| random.poisson(mean * documents) as f64 / documents;
            counts.extend(group.map(tokens));
        }
        TopicStats::new(4, counts, false)
    }

    #[test]
    fn likeness_tells_the_same_from_the_different() {
        let likeness = stats(20.0).likeness(0, 20.0).unwrap();
        assert!((likeness[1] - 1.0).abs() < 0.05, "the same words: {}", likeness[1]);
        assert!(likeness[2] < -0.9, "other words: {}", likeness[2]);
    }

    /// A topic whose words vary less than by chance from those of all together says nothing.
    #[test]
    fn a_topic_like_all_together_says_nothing() {
        let counts: Vec<f64> = (0..400).flat_map(|word| [0.5, 0.25 + 0.25 * f64::from(word % 2)]).collect();
        let stats = TopicStats::new(2, counts, false);
        let same = TopicStats::new(2, vec![0.5; 800], false);
        assert!(same.likeness(0, 20.0).is_none());
        assert!(stats.likeness(1, 2000.0).is_some() && stats.likeness(1, 20.0).is_none());
    }

    #[test]
    fn columns_move_merge_and_appear() {
        let mut stats = TopicStats::new(3, vec![1.0, 2.0, 3.0, 10.0, 20.0, 30.0], false);
        stats.merge(2, 0);
        stats.rearrange(&[Some(1), None, Some(0)]);
        assert_eq!(
            (stats.scaled_row(0), stats.scaled_row(1)),
            (&[2.0, 0.0, 4.0][..], &[20.0, 0.0, 40.0][..])
        );
        assert_eq!(stats.scaled_totals(), [22.0, 0.0, 44.0]);
    }
}
