//! What follows from scores, coherence and stability.

use super::Row;
use serde::Serialize;

/// Below this, half of what a topic says is another matter with another seed.
const UNSTABLE: f64 = 0.5;

/// The recommendation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judgement {
    /// The number of topics to use.
    pub recommended: usize,
    /// The number of topics with the best score.
    pub best_score: usize,
    /// The one with the most coherent words.
    pub best_coherence: usize,
    /// The one whose topics come again most surely; not known with one seed.
    pub best_stability: Option<usize>,
    /// Why.
    pub sentence: String,
}

/// The score of a number of topics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judged {
    pub mean: f64,
    pub error: f64,
    pub worse_by: f64,
    pub worse_by_error: f64,
}

/// Scores from the log-likelihoods of the same documents: by number of topics, seed and document. Errors are those over
/// documents and over seeds, which are drawn independently.
pub fn scores(all: &[Vec<&[f64]>]) -> Vec<Judged> {
    let documents = all[0][0].len();
    let mean_of = |seeds: &[&[f64]], document: usize| {
        -seeds.iter().map(|scores| scores[document]).sum::<f64>() / seeds.len() as f64
    };
    let each: Vec<Vec<f64>> =
        all.iter().map(|seeds| (0..documents).map(|document| mean_of(seeds, document)).collect()).collect();
    // The variance over seeds of a mean over them.
    let of_seeds: Vec<f64> = all
        .iter()
        .map(|seeds| {
            let means: Vec<f64> = seeds.iter().map(|scores| mean_and_deviation(scores).0).collect();
            let (_, deviation) = mean_and_deviation(&means);
            deviation * deviation / means.len() as f64
        })
        .collect();
    let means: Vec<f64> = each.iter().map(|scores| mean_and_deviation(scores).0).collect();
    let best = (0..means.len()).min_by(|&a, &b| means[a].total_cmp(&means[b])).unwrap_or(0);
    let error = |values: &[f64], seeds: f64| {
        let (_, deviation) = mean_and_deviation(values);
        (deviation * deviation / documents as f64 + seeds).sqrt()
    };
    (0..means.len())
        .map(|at| {
            let worse: Vec<f64> = each[at].iter().zip(&each[best]).map(|(own, best)| own - best).collect();
            let worse_by_error = if at == best { 0.0 } else { error(&worse, of_seeds[at] + of_seeds[best]) };
            Judged {
                mean: means[at],
                error: error(&each[at], of_seeds[at]),
                worse_by: means[at] - means[best],
                worse_by_error,
            }
        })
        .collect()
}

/// The mean of some values, and their standard deviation; 0 for one.
pub fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    (mean, if values.len() > 1 { (squares / (count - 1.0)).sqrt() } else { 0.0 })
}

/// The smallest number of topics whose score is within one standard error of the best.
pub fn judge(rows: &[Row], unigram: f64) -> Judgement {
    let first_best = |value: &dyn Fn(&Row) -> f64| {
        let better = |best: usize, at: usize| if value(&rows[at]) > value(&rows[best]) { at } else { best };
        (0..rows.len()).fold(0, better)
    };
    let best = first_best(&|row| -row.log_perplexity_per_document);
    let chosen = rows.iter().position(|row| row.worse_by <= row.worse_by_error).unwrap_or(best);
    let coherent = first_best(&|row| row.coherence);
    let stable = rows[0].stability.map(|_| first_best(&|row| row.stability.unwrap_or(0.0)));
    Judgement {
        recommended: rows[chosen].topics,
        best_score: rows[best].topics,
        best_coherence: rows[coherent].topics,
        best_stability: stable.map(|at| rows[at].topics),
        sentence: sentence(rows, chosen, best, coherent, stable) + &warning(&rows[best], unigram),
    }
}

/// What to say if topics are good for nothing.
fn warning(best: &Row, unigram: f64) -> String {
    if best.log_perplexity_per_document < unigram {
        return String::new();
    }
    format!(
        " But word frequencies alone do as well ({unigram:.2} nats each): these are too few documents for topics."
    )
}

fn sentence(rows: &[Row], chosen: usize, best: usize, coherent: usize, stable: Option<usize>) -> String {
    let row = &rows[chosen];
    let chosen_for = if chosen == best {
        format!(
            "{} topics: they predict the held-out documents best, {:.2} nats each.",
            row.topics, row.log_perplexity_per_document
        )
    } else {
        format!(
            "{} topics: the fewest that predict the held-out documents as well as the best, {} topics, within the \
             error (worse by {:.2} ± {:.2} nats each).",
            row.topics, rows[best].topics, row.worse_by, row.worse_by_error
        )
    };
    let end = if chosen + 1 == rows.len() {
        Some("That is the end of the grid: try more.".to_owned())
    } else if chosen == 0 && row.topics > 1 {
        Some("That is the beginning of the grid: try fewer.".to_owned())
    } else {
        None
    };
    let coherent = Some(&rows[coherent]).filter(|_| coherent != chosen).map(|other| {
        format!(
            "Words are more coherent with {} (NPMI {:.3}, here {:.3}).",
            other.topics, other.coherence, row.coherence
        )
    });
    let stable = row.stability.zip(stable).map(|(stability, stable)| {
        if stability >= UNSTABLE {
            return format!("The topics are found again with other seeds (stability {stability:.2}).");
        }
        format!(
            "With another seed many topics are different (stability {stability:.2}; {:.2} with {}): do not believe \
             every topic.",
            rows[stable].stability.unwrap_or(0.0),
            rows[stable].topics
        )
    });
    [Some(chosen_for), end, coherent, stable].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(topics: usize, worse_by: f64, worse_by_error: f64, coherence: f64, stability: Option<f64>) -> Row {
        Row {
            topics,
            log_perplexity_per_document: 100.0 + worse_by,
            standard_error: 1.0,
            worse_by,
            worse_by_error,
            coherence,
            coherence_deviation: 0.0,
            stability,
            train_seconds: 1.0,
            model_hashes: Vec::new(),
        }
    }

    #[test]
    fn the_fewest_topics_that_are_as_good_are_recommended() {
        let rows = [
            row(5, 9.0, 0.5, 0.1, Some(0.9)),
            row(10, 0.3, 0.5, 0.2, Some(0.8)),
            row(20, 0.0, 0.0, 0.15, Some(0.4)),
            row(50, 2.0, 0.5, 0.1, Some(0.3)),
        ];
        let found = judge(&rows, 200.0);
        assert_eq!(
            (found.recommended, found.best_score, found.best_coherence, found.best_stability),
            (10, 20, 10, Some(5))
        );
        assert_eq!(
            found.sentence,
            "10 topics: the fewest that predict the held-out documents as well as the best, 20 topics, within the error \
             (worse by 0.30 ± 0.50 nats each). The topics are found again with other seeds (stability 0.80)."
        );
        let rising = [row(5, 9.0, 0.5, 0.3, None), row(10, 0.0, 0.0, 0.2, None)];
        assert_eq!(
            judge(&rising, 200.0).sentence,
            "10 topics: they predict the held-out documents best, 100.00 nats each. That is the end of the grid: try more. \
             Words are more coherent with 5 (NPMI 0.300, here 0.200)."
        );
        let shaky = [row(5, 0.0, 0.0, 0.3, Some(0.2)), row(10, 3.0, 1.0, 0.2, Some(0.1))];
        assert!(judge(&shaky, 200.0).sentence.ends_with(
            "That is the beginning of the grid: try fewer. With another seed many topics are different \
             (stability 0.20; 0.20 with 5): do not believe every topic."
        ));
        assert!(judge(&shaky, 99.0).sentence.ends_with("these are too few documents for topics."));
    }

    /// Two numbers of topics, two seeds, three documents, by hand.
    #[test]
    fn errors_are_over_documents_and_seeds() {
        let a: Vec<&[f64]> = vec![&[-10.0, -20.0, -30.0], &[-12.0, -22.0, -32.0]];
        let b: Vec<&[f64]> = vec![&[-10.0, -18.0, -29.0], &[-10.0, -18.0, -29.0]];
        let found = scores(&[a, b]);
        assert_eq!((found[0].mean, found[1].mean), (21.0, 19.0));
        // Over documents: means 11, 21, 31 with variance 100 over 3; over seeds: means 20 and 22 with variance 2 over 2.
        assert!((found[0].error - (100.0 / 3.0 + 1.0_f64).sqrt()).abs() < 1e-12);
        // Differences 1, 3, 2 with variance 1 over 3, and the seeds of both.
        assert_eq!(found[0].worse_by, 2.0);
        assert!((found[0].worse_by_error - (1.0 / 3.0 + 1.0_f64).sqrt()).abs() < 1e-12);
        assert_eq!((found[1].worse_by, found[1].worse_by_error), (0.0, 0.0));
    }
}
