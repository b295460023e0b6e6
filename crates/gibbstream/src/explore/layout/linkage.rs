//! Average linkage by chains of nearest neighbours: K^2 time, and the same tree as joining the two nearest clusters again
//! and again.

use super::TopicDistances;
use crate::explore::report::Hierarchy;

/// Topics joined two by two.
pub fn linkage(distances: &TopicDistances) -> Hierarchy {
    let topics = distances.topics();
    let mut clusters = Clusters::new(distances);
    let mut merges = Vec::with_capacity(topics.saturating_sub(1));
    let mut chain: Vec<usize> = Vec::new();
    while merges.len() + 1 < topics {
        if chain.is_empty() {
            chain.extend(clusters.sizes.iter().position(|&size| size > 0));
        }
        // Two clusters that are each other's nearest would be joined sooner or later by the greedy rule too.
        let last = chain[chain.len() - 1];
        let previous = chain.len().checked_sub(2).map(|place| chain[place]);
        let (nearest, distance) = clusters.nearest(last, previous);
        if previous == Some(nearest) {
            chain.truncate(chain.len() - 2);
            merges.push((last.min(nearest), last.max(nearest), distance));
            clusters.join(last, nearest);
        } else {
            chain.push(nearest);
        }
    }
    merges.sort_by(|a, b| a.2.total_cmp(&b.2));
    numbered(topics, &merges)
}

/// Clusters, each known by one of its topics, and their mean distances.
struct Clusters {
    topics: usize,
    distances: Vec<f64>,
    /// 0 for clusters that were joined to others.
    sizes: Vec<usize>,
}

impl Clusters {
    fn new(distances: &TopicDistances) -> Self {
        let topics = distances.topics();
        let all = (0..topics).flat_map(|i| (0..topics).map(move |j| distances.between(i, j))).collect();
        Self { topics, distances: all, sizes: vec![1; topics] }
    }

    /// The cluster nearest to one; where several are, `preferred` if it is among them, or else the first.
    fn nearest(&self, cluster: usize, preferred: Option<usize>) -> (usize, f64) {
        let row = &self.distances[cluster * self.topics..][..self.topics];
        let mut best = preferred.map_or((usize::MAX, f64::INFINITY), |other| (other, row[other]));
        for (other, &distance) in row.iter().enumerate() {
            if other != cluster && self.sizes[other] > 0 && distance < best.1 {
                best = (other, distance);
            }
        }
        best
    }

    /// Puts two clusters together under the name of the second.
    fn join(&mut self, a: usize, b: usize) {
        let (size_a, size_b) = (self.sizes[a] as f64, self.sizes[b] as f64);
        for other in 0..self.topics {
            let at = |cluster: usize| cluster * self.topics + other;
            let mean = (size_a * self.distances[at(a)] + size_b * self.distances[at(b)]) / (size_a + size_b);
            self.distances[b * self.topics + other] = mean;
            self.distances[other * self.topics + b] = mean;
        }
        self.sizes[b] += self.sizes[a];
        self.sizes[a] = 0;
    }
}

/// Merges of clusters known by topics, as merges of clusters known by numbers.
fn numbered(topics: usize, merges: &[(usize, usize, f64)]) -> Hierarchy {
    let mut parents: Vec<usize> = (0..topics + merges.len()).collect();
    let mut hierarchy = Hierarchy::default();
    for (step, &(a, b, height)) in merges.iter().enumerate() {
        let (a, b) = (root(&mut parents, a), root(&mut parents, b));
        hierarchy.a.push(a.min(b) as u32);
        hierarchy.b.push(a.max(b) as u32);
        hierarchy.height.push(height);
        parents[a] = topics + step;
        parents[b] = topics + step;
    }
    hierarchy.order = leaves(topics, &hierarchy);
    hierarchy
}

fn root(parents: &mut [usize], mut cluster: usize) -> usize {
    while parents[cluster] != cluster {
        parents[cluster] = parents[parents[cluster]];
        cluster = parents[cluster];
    }
    cluster
}

/// Topics from left to right: those of the first part of every merge before those of the second.
fn leaves(topics: usize, hierarchy: &Hierarchy) -> Vec<u32> {
    let mut order = Vec::with_capacity(topics);
    let mut open = vec![(topics + hierarchy.a.len()).saturating_sub(1)];
    while let Some(cluster) = open.pop().filter(|_| topics > 0) {
        match cluster.checked_sub(topics) {
            None => order.push(cluster as u32),
            Some(merge) => open.extend([hierarchy.b[merge] as usize, hierarchy.a[merge] as usize]),
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::tests::random_topics;

    /// Joins the two nearest clusters again and again, with mean distances taken from the topics themselves.
    fn greedy(distances: &TopicDistances) -> Vec<(Vec<usize>, f64)> {
        let mut clusters: Vec<Vec<usize>> = (0..distances.topics()).map(|topic| vec![topic]).collect();
        let mut merged = Vec::new();
        while clusters.len() > 1 {
            let mean = |a: &[usize], b: &[usize]| {
                let sum: f64 = a.iter().flat_map(|&i| b.iter().map(move |&j| distances.between(i, j))).sum();
                sum / (a.len() * b.len()) as f64
            };
            let mut best = (0, 0, f64::INFINITY);
            for i in 0..clusters.len() {
                for j in 0..i {
                    let distance = mean(&clusters[i], &clusters[j]);
                    if distance < best.2 {
                        best = (i, j, distance);
                    }
                }
            }
            let more = clusters.remove(best.0);
            clusters[best.1].extend(more);
            clusters[best.1].sort_unstable();
            merged.push((clusters[best.1].clone(), best.2));
        }
        merged
    }

    fn members(topics: usize, tree: &Hierarchy, cluster: u32) -> Vec<usize> {
        match (cluster as usize).checked_sub(topics) {
            None => vec![cluster as usize],
            Some(merge) => {
                let mut all = members(topics, tree, tree.a[merge]);
                all.extend(members(topics, tree, tree.b[merge]));
                all.sort_unstable();
                all
            }
        }
    }

    #[test]
    fn the_tree_is_that_of_the_greedy_rule() {
        for (topics, seed) in [(2, 1), (3, 2), (17, 3), (40, 4)] {
            let (model, shares) = random_topics(topics, 60, seed);
            let distances = TopicDistances::new(&model, &shares);
            let tree = linkage(&distances);
            let expected = greedy(&distances);
            assert_eq!(tree.height.len(), topics - 1);
            for (merge, (cluster, height)) in expected.iter().enumerate() {
                assert_eq!(members(topics, &tree, (topics + merge) as u32), *cluster, "merge {merge} of {topics}");
                assert!((tree.height[merge] - height).abs() < 1e-9);
            }
            let mut order: Vec<u32> = tree.order.clone();
            order.sort_unstable();
            assert_eq!(order, (0..topics as u32).collect::<Vec<_>>());
            // No branches cross: every cluster is a run of neighbours.
            for merge in 0..topics - 1 {
                let cluster = members(topics, &tree, (topics + merge) as u32);
                let places: Vec<usize> = cluster
                    .iter()
                    .map(|&topic| tree.order.iter().position(|&other| other as usize == topic).unwrap())
                    .collect();
                let (low, high) = (places.iter().min().unwrap(), places.iter().max().unwrap());
                assert_eq!(high - low + 1, cluster.len());
            }
        }
    }

    #[test]
    fn distances_that_are_all_the_same_make_a_tree_too() {
        let tree = linkage(&TopicDistances::given(4, vec![0.5; 6]));
        assert_eq!(tree.height, [0.5; 3]);
        assert_eq!(tree.order.len(), 4);
    }
}
