//! Linear regression of samples.

use std::time::Duration;

/// A least-squares line.
pub struct Slope {
    mean: f64,
    per_second: f64,
}

/// Fits a line.
pub fn of(samples: impl Iterator<Item = (Duration, u64)>) -> Slope {
    let points: Vec<_> = samples
        .map(|(at, amount)| (at.as_secs_f64(), amount as f64))
        .collect();
    let count = points.len() as f64;
    let middle = points.iter().map(|(at, _)| at).sum::<f64>() / count;
    let mean = points.iter().map(|(_, amount)| amount).sum::<f64>() / count;
    let together = |(at, amount): &(f64, f64)| (at - middle) * (amount - mean);
    let alone = |(at, _): &(f64, f64)| (at - middle).powi(2);
    let per_second =
        points.iter().map(together).sum::<f64>() / points.iter().map(alone).sum::<f64>();
    Slope { mean, per_second }
}

impl Slope {
    /// Returns the relative growth in ten minutes.
    pub fn growth_in_ten_minutes(&self) -> f64 {
        self.per_second * 600.0 / self.mean
    }
}

#[test]
fn a_line_is_fitted_to_points() {
    let at = |second: u64| (Duration::from_secs(second), 1000 + second);
    let growth = of((0..=1200).map(at)).growth_in_ten_minutes();
    assert!((growth - 600.0 / 1600.0).abs() < 1e-9, "{growth}");
}
