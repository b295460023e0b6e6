//! What a model of numbers must beat: one member of a family, fitted to everything seen.

use crate::model::{Batch, LatentModel, Statistics, Sums};
use crate::model::rows::mixture::{Family, Mixture, MixtureExpectation, MixtureParameters};
use crate::model::rows::observations::Observations;
use crate::error::Result;
use crate::learn::{Array, Baseline, Predictor, Stored};

/// One member of a family.
#[derive(Clone, Debug)]
pub struct SingleComponent<F> {
    family: F,
    pivot: Vec<f64>,
    mass: f64,
    sums: Vec<f64>,
}

impl<F: Family + 'static> SingleComponent<F> {
    /// One that has seen nothing.
    pub fn new(family: F, dimension: usize) -> Self {
        let sums = vec![0.0; family.statistics(dimension)];
        Self { family, pivot: vec![0.0; dimension], mass: 0.0, sums }
    }

    /// Its parameters, ready to be asked.
    pub fn predictor(&self) -> Result<Box<dyn Predictor>> {
        let model = Mixture::new(1, self.pivot.len(), self.family.clone())?;
        let mut parameters = MixtureParameters::default();
        let statistics = MixtureExpectation { mass: vec![self.mass], sums: self.sums.clone() };
        model.maximise(&self.pivot, &statistics, &mut parameters);
        Ok(Box::new(model.frozen(&parameters)))
    }
}

impl<F: Family + 'static, M: LatentModel<Batch: AsRef<Observations>>> Baseline<M> for SingleComponent<F> {
    fn begin(&mut self, first: &M::Batch) {
        if self.mass == 0.0 {
            self.pivot = first.as_ref().mean();
        }
    }

    fn center(&self) -> Vec<f64> {
        self.pivot.clone()
    }

    fn sums(&self, center: &[f64], block: &M::Batch) -> Sums {
        let mut sums = Sums::new(self.sums.len());
        // What comes a second time says nothing new.
        if block.is_empty() || block.key(0)[0] > 0 || center.len() != self.pivot.len() {
            return sums;
        }
        let mut space = vec![0.0; self.sums.len()];
        for x in block.as_ref().rows() {
            space.fill(0.0);
            self.family.accumulate(center, x, 1.0, &mut space);
            sums.add(&space);
        }
        sums
    }

    fn absorb(&mut self, _statistics: &M::Statistics, sums: &Sums) {
        self.mass += sums.weight() as f64;
        self.sums.iter_mut().zip(sums.totals()).for_each(|(sum, fresh)| *sum += fresh);
    }

    fn arrays(&self) -> Vec<Array<'_>> {
        vec![
            Array::floats("baseline_pivot", &[self.pivot.len()], &self.pivot),
            Array::one("baseline_mass", self.mass),
            Array::floats("baseline_sums", &[self.sums.len()], &self.sums),
        ]
    }

    fn restore(&mut self, stored: &dyn Stored) -> Result<(), String> {
        self.pivot = finite(stored, "baseline_pivot", &[self.pivot.len()])?;
        self.mass = not_negative(stored, "baseline_mass", &[1])?[0];
        self.sums = finite(stored, "baseline_sums", &[self.sums.len()])?;
        Ok(())
    }
}

/// Squares of the largest values that rows may have, and sums of them, are smaller.
const LARGEST: f64 = 1e250;

/// An array of numbers that cannot be negative.
pub(super) fn not_negative(stored: &dyn Stored, name: &str, shape: &[usize]) -> Result<Vec<f64>, String> {
    let values = finite(stored, name, shape)?;
    let sound = values.iter().all(|&value| value >= 0.0);
    sound.then_some(values).ok_or_else(|| format!("'{name}' holds numbers that cannot be right"))
}

/// An array without numbers that no training leaves behind.
pub(crate) fn finite(stored: &dyn Stored, name: &str, shape: &[usize]) -> Result<Vec<f64>, String> {
    let values = stored.floats(name, shape)?;
    let sound = values.iter().all(|value| value.abs() <= LARGEST);
    sound.then_some(values).ok_or_else(|| format!("'{name}' holds numbers that cannot be right"))
}
