//! Fewer topics: which ones to join, and what that loses.
//!
//! What topics tell of words is their mutual information `I(topic; word)`, in nats per token: how much better a word is
//! predicted by who knows its topic. Joining topics a and b with shares `p_a` and `p_b` loses exactly `(p_a + p_b)` times their
//! Jensen-Shannon divergence with weights `p_a` and `p_b`; the pair that loses least is joined, again and again (Slonim and
//! Tishby 1999).

use super::layout::sum_of_x_log_x;
use crate::learn::TopicParameters;
use rayon::prelude::*;
use serde::Serialize;

/// Two groups of topics that become one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Join {
    /// Topics of the first, which has the lowest number of all.
    pub topics: Vec<usize>,
    /// Topics of the second, which are put with them.
    pub with: Vec<usize>,
    /// Information that this loses, in nats per token.
    pub loss: f64,
}

/// Groups of topics, and how much the topics tell of words.
pub struct Reduction {
    groups: Vec<Group>,
}

/// Topics that are one.
struct Group {
    topics: Vec<usize>,
    /// p(topic, word) for each word.
    joint: Vec<f64>,
    share: f64,
    /// Sum over words of `joint log joint`, less `share log share`.
    entropy: f64,
}

impl Group {
    fn new(topics: Vec<usize>, joint: Vec<f64>, share: f64) -> Self {
        let entropy = sum_of_x_log_x(&joint, None) - x_log_x(share);
        Self { topics, joint, share, entropy }
    }

    /// What joining two groups loses.
    fn loss(&self, other: &Self) -> f64 {
        let together = sum_of_x_log_x(&self.joint, Some(&other.joint)) - x_log_x(self.share + other.share);
        (self.entropy + other.entropy - together).max(0.0)
    }

    fn join(self, other: Self) -> Self {
        let joint = self.joint.iter().zip(&other.joint).map(|(a, b)| a + b).collect();
        let mut topics = self.topics;
        topics.extend(other.topics);
        topics.sort_unstable();
        Self::new(topics, joint, self.share + other.share)
    }
}

fn x_log_x(x: f64) -> f64 {
    if x > 0.0 { x * libm::log(x) } else { 0.0 }
}

impl Reduction {
    /// The topics of a model in groups; those in none of them are left out, and the shares of the others are of what is left.
    pub fn new(parameters: &TopicParameters, groups: &[Vec<usize>]) -> Self {
        let TopicParameters { topics, shares, .. } = parameters;
        let all: f64 = groups.iter().flatten().map(|&k| shares[k]).sum();
        let group = |members: &Vec<usize>| {
            let row = |row: &[f64]| members.iter().map(|&k| shares[k] / all * row[k]).sum();
            let joint: Vec<f64> = topics.beta.chunks_exact(topics.topics()).map(row).collect();
            Group::new(members.clone(), joint, members.iter().map(|&k| shares[k] / all).sum())
        };
        Self { groups: groups.par_iter().map(group).collect() }
    }

    /// The mutual information of topic and word, in nats per token.
    pub fn information(&self) -> f64 {
        let words = self.groups.first().map_or(0, |group| group.joint.len());
        let mut anywhere = vec![0.0; words];
        for group in &self.groups {
            anywhere.iter_mut().zip(&group.joint).for_each(|(all, joint)| *all += joint);
        }
        let known: f64 = self.groups.iter().map(|group| group.entropy).sum();
        (known - sum_of_x_log_x(&anywhere, None)).max(0.0)
    }

    /// The topics of each group; groups are in the order of their lowest topics.
    pub fn groups(&self) -> Vec<Vec<usize>> {
        self.groups.iter().map(|group| group.topics.clone()).collect()
    }

    /// Joins the groups that lose least until so many are left; `step` is told after each how many there are.
    pub fn reduce(&mut self, left: usize, mut step: impl FnMut(usize)) -> Vec<Join> {
        let mut losses: Vec<Vec<f64>> = (0..self.groups.len())
            .into_par_iter()
            .map(|i| (0..i).map(|j| self.groups[i].loss(&self.groups[j])).collect())
            .collect();
        let mut joins = Vec::new();
        while self.groups.len() > left.max(1) {
            let pairs = losses.iter().enumerate().flat_map(|(i, row)| row.iter().enumerate().map(move |(j, loss)| (i, j, *loss)));
            // The first of equal ones, so that the result is always the same.
            let Some((i, j, loss)) = pairs.min_by(|a, b| a.2.total_cmp(&b.2)) else { break };
            let second = self.groups.remove(i);
            losses.remove(i);
            for row in losses.iter_mut().skip(i) {
                row.remove(i);
            }
            let first = std::mem::replace(&mut self.groups[j], Group::new(Vec::new(), Vec::new(), 0.0));
            joins.push(Join { topics: first.topics.clone(), with: second.topics.clone(), loss });
            self.groups[j] = first.join(second);
            let joined = &self.groups[j];
            let fresh: Vec<f64> = self.groups.par_iter().map(|other| joined.loss(other)).collect();
            losses[j].copy_from_slice(&fresh[..j]);
            for (row, fresh) in losses.iter_mut().zip(&fresh).skip(j + 1) {
                row[j] = *fresh;
            }
            step(self.groups.len());
        }
        joins
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::Unigram;
    use crate::explore::tests::random_topics;
    use crate::model::topics::lda::Topics;

    fn parameters(topics: usize, words: usize, seed: u64) -> TopicParameters {
        let (topics, shares) = random_topics(topics, words, seed);
        TopicParameters { topics, shares, unigram: Unigram::from_counts(vec![1; words]) }
    }

    fn each(topics: usize) -> Vec<Vec<usize>> {
        (0..topics).map(|k| vec![k]).collect()
    }

    /// `sum p(k, w) log (p(k, w) / (p(k) p(w)))`, from the definition.
    fn direct(topics: &Topics, shares: &[f64], groups: &[Vec<usize>]) -> f64 {
        let joint = |group: &[usize], word: usize| -> f64 {
            group.iter().map(|&k| shares[k] * topics.row(word as u32)[k]).sum()
        };
        let mut sum = 0.0;
        for word in 0..topics.vocabulary() {
            let anywhere: f64 = groups.iter().map(|group| joint(group, word)).sum();
            for group in groups {
                let (p, share) = (joint(group, word), group.iter().map(|&k| shares[k]).sum::<f64>());
                sum += p * libm::log(p / (share * anywhere));
            }
        }
        sum
    }

    #[test]
    fn losses_are_the_information_that_is_gone() {
        let parameters = parameters(7, 60, 11);
        let mut reduction = Reduction::new(&parameters, &each(7));
        let before = direct(&parameters.topics, &parameters.shares, &each(7));
        assert!((reduction.information() - before).abs() < 1e-9);
        let joins = reduction.reduce(3, |_| {});
        assert_eq!((joins.len(), reduction.groups().len()), (4, 3));
        let after = direct(&parameters.topics, &parameters.shares, &reduction.groups());
        assert!((reduction.information() - after).abs() < 1e-9);
        let lost: f64 = joins.iter().map(|join| join.loss).sum();
        assert!((before - after - lost).abs() < 1e-9, "{before} - {after} = {lost}");
        assert!(lost > 0.0);
    }

    /// Each step is the best of all pairs, tried one by one from the definition.
    #[test]
    fn the_pair_that_loses_least_is_joined() {
        let parameters = parameters(6, 40, 5);
        let mut groups = each(6);
        for join in Reduction::new(&parameters, &each(6)).reduce(1, |_| {}) {
            let now = direct(&parameters.topics, &parameters.shares, &groups);
            let mut best = (f64::INFINITY, Vec::new());
            for i in 0..groups.len() {
                for j in 0..i {
                    let mut joined = groups.clone();
                    let with = joined.remove(i);
                    joined[j].extend(with);
                    joined[j].sort_unstable();
                    let lost = now - direct(&parameters.topics, &parameters.shares, &joined);
                    if lost < best.0 {
                        best = (lost, joined);
                    }
                }
            }
            assert!((best.0 - join.loss).abs() < 1e-9);
            groups = best.1;
            let together: Vec<usize> = [join.topics, join.with].concat();
            assert!(groups.iter().any(|group| together.iter().all(|k| group.contains(k))));
        }
        assert_eq!(groups, [[0, 1, 2, 3, 4, 5]]);
    }

    /// Topics that are the same lose nothing, whatever their shares.
    #[test]
    fn equal_topics_cost_nothing() {
        let (one, _) = random_topics(1, 30, 2);
        let topics = Topics { beta: one.beta.iter().flat_map(|&p| [p, p]).collect(), alpha: vec![0.1; 2] };
        let unigram = Unigram::from_counts(vec![1; 30]);
        let parameters = TopicParameters { topics, shares: vec![0.9, 0.1], unigram };
        let mut reduction = Reduction::new(&parameters, &each(2));
        assert!(reduction.reduce(1, |_| {})[0].loss < 1e-9);
    }
}
