//! An E-step that a user could write: it draws the label instead of summing over it.

use crate::cases::{KAPPA, close, fit, in_order, overlapping, poisson, settings};
use crate::recovery::poisson_mle;
use gibbstream::inference::exact::{Exact, Tractable};
use gibbstream::inference::{LocalInference, Passes};
use gibbstream::learn::averaging::Averaging;
use gibbstream::learn::online::OnlineSettings;
use gibbstream::learn::schedule::Step;
use gibbstream::model::rows::mixture::{Family, Mixture, MixtureView};
use gibbstream::model::rows::observations::{Counts, Observations};
use gibbstream::model::{Batch, LatentModel, Sums};
use gibbstream::numerics::random::{Purpose, Seed, Stream};

/// Draws the label instead of summing over it.
#[derive(Clone, Copy)]
struct SampledLabel;

#[derive(Default)]
struct Label {
    random: Stream,
    posterior: Vec<f64>,
}

impl<F: Family> LocalInference<Mixture<F>> for SampledLabel {
    type Latent = Label;
    type Scratch = Vec<f64>;

    fn passes(&self) -> usize {
        1
    }

    fn first_kept(&self) -> usize {
        0
    }

    fn begin(&self, _: &MixtureView<F>, _: &F::Batch, _: usize, latent: &mut Label, random: Stream) {
        latent.random = random;
    }

    fn advance(
        &self,
        view: &MixtureView<F>,
        batch: &F::Batch,
        index: usize,
        latent: &mut Label,
        scratch: &mut Vec<f64>,
        _: Passes,
    ) {
        Mixture::<F>::posterior(view, batch, index, scratch);
        let label = latent.random.categorical(scratch);
        latent.posterior.clear();
        latent.posterior.resize(scratch.len(), 0.0);
        latent.posterior[label] = 1.0;
    }

    fn collect(&self, view: &MixtureView<F>, batch: &F::Batch, latents: &mut [Label], out: &mut Sums) {
        let posteriors: Vec<Vec<f64>> = latents.iter().map(|latent| latent.posterior.clone()).collect();
        <Mixture<F> as Tractable>::collect(view, batch, &posteriors, out);
    }
}

/// 40,000 draws of five labels, each from its own stream: every frequency within 4.5 standard errors (15
/// comparisons, so 1e-4 for fresh seeds).
#[test]
fn sampled_labels_have_the_responsibilities_as_mean() {
    let (_, points) = overlapping();
    let state = points.model.initial(&points.whole(), Seed(1));
    let batch = |pass| Observations::new(vec![0.5, 0.5, 1.0, 1.2, 1.5, -1.0, 0.0, 1.4, 1.0, 0.3], 2, 0, pass);
    let mut view = MixtureView::default();
    points.model.view(&state, &Step::default(), None, &batch(0).unwrap(), &mut view);
    let expected = points.model.responsibilities(&state.parameters, &batch(0).unwrap());
    let mut counts = [[0.0; 3]; 5];
    let (mut latent, mut scratch) = (Label::default(), Vec::new());
    let draws = 40_000;
    for pass in 0..draws {
        let batch = batch(pass).unwrap();
        for (index, counts) in counts.iter_mut().enumerate() {
            let stream = Seed(21).stream(Purpose::Local, batch.key(index));
            SampledLabel.begin(&view, &batch, index, &mut latent, stream);
            SampledLabel.advance(
                &view,
                &batch,
                index,
                &mut latent,
                &mut scratch,
                Passes { range: 0..1, keep_from: 0 },
            );
            counts.iter_mut().zip(&latent.posterior).for_each(|(count, one)| *count += one);
        }
    }
    let mut uncertain = 0;
    for (counts, shares) in counts.iter().zip(&expected) {
        for (count, share) in counts.iter().zip(shares) {
            // A share far below one draw in all of them has no standard error to speak of.
            let error = (share * (1.0 - share) * draws as f64).sqrt().max(1.0);
            assert!(((count - share * draws as f64) / error).abs() < 4.5, "{counts:?} for {shares:?}");
            uncertain += usize::from((0.05..0.95).contains(share));
        }
    }
    assert!(uncertain >= 5, "the labels are not obvious: {expected:?}");
}

/// The exact E-step plus noise of mean zero has the same limit. On a fixed set of counts visited again and
/// again, the limit of the exact algorithm is the maximum of the likelihood; the mean of 40 noisy runs lies
/// within 5.5 standard errors of it (Student with 39 degrees of freedom: 1e-5 for four comparisons).
#[test]
fn noise_of_mean_zero_does_not_change_the_limit() {
    let case = poisson(6, 100, &[0.4, 0.6], &[2.0, 9.0]);
    let mle = poisson_mle(&case, [0.4, 0.6], [2.0, 9.0]);
    let passes: Vec<Counts> = (0..600).map(|pass| case.batches(100, pass).pop().unwrap()).collect();
    let run = |seed| OnlineSettings { averaging: Averaging::Tail(200), ..settings(KAPPA, 100, seed) };
    let (_, path) = fit(&case.model, Exact, run(0), &passes);
    close(&in_order(&path[599]), &mle, 1e-5);

    let runs: Vec<Vec<f64>> = (0..40)
        .map(|seed| {
            let (state, _) = fit(&case.model, SampledLabel, run(seed), &passes);
            in_order(&case.model.parameters(&state))
        })
        .collect();
    for (i, mle) in mle.iter().enumerate() {
        let number = runs.len() as f64;
        let mean = runs.iter().map(|run| run[i]).sum::<f64>() / number;
        let variance = runs.iter().map(|run| (run[i] - mean) * (run[i] - mean)).sum::<f64>() / (number - 1.0);
        let error = (variance / number).sqrt();
        assert!(((mean - mle) / error).abs() < 5.5, "{mean} is not {mle} +- {error}");
        assert!(error > 0.0 && error < 2e-3 * mle, "sharp enough to see a bias: {error} of {mle}");
    }
}
