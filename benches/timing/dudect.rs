//! Two classes of inputs, timed in random order, compared with Welch's t-test.

use std::hint::black_box;
use std::time::Instant;

use forum_api::runtime::{OsRandom, RandomSource};

use crate::measurements::{Goal, Samples, row};

const SAMPLES: usize = 1_000_000;

/// Number of inputs that are built before they are timed.
const BATCH: usize = 1_000;

/// Number of cropping thresholds: percentiles of the first batches. The last one crops nothing.
const CROPS: usize = 20;

/// Minimum number of samples for a t-test.
const MIN_SAMPLES: u64 = 10_000;

/// Threshold of |t| below which two classes do not differ.
const T_THRESHOLD: f64 = 4.5;

/// Times `work` on inputs of two classes; returns the largest |t| over all crops.
pub fn compare<T, R>(what: &str, make: impl Fn(bool) -> T, work: impl Fn(T) -> R) {
    let mut limits = Vec::new();
    let mut crops = vec![[Moments::default(); 2]; CROPS];
    for _ in 0..=SAMPLES / BATCH {
        let timed = batch(&make, &work);
        // The first batch warms up and sets the thresholds.
        if limits.is_empty() {
            limits = percentiles(&timed);
            continue;
        }
        for (crop, limit) in crops.iter_mut().zip(&limits) {
            for (class, time) in timed.iter().filter(|(_, time)| time <= limit) {
                crop[usize::from(*class)].add(*time);
            }
        }
    }
    report(what, &crops);
}

fn report(what: &str, crops: &[[Moments; 2]]) {
    let enough = crops
        .iter()
        .filter(|crop| crop.iter().all(|class| class.count >= MIN_SAMPLES));
    let most = enough.max_by(|a, b| t(a).total_cmp(&t(b))).unwrap();
    let [all, middle] = [crops.len() - 1, crops.len() / 2].map(|crop| &crops[crop]);
    println!("{what}, {SAMPLES} samples");
    println!(
        "  means of all: {:.1} and {:.1} ns, |t| {:.2}; of the faster half: {:.1} and {:.1} ns",
        all[0].mean,
        all[1].mean,
        t(all),
        middle[0].mean,
        middle[1].mean,
    );
    let largest = Samples::from_iter([t(most)]);
    row(what, "|t|", "chance", Goal::AtMost(T_THRESHOLD), &largest);
}

/// Times a batch; returns the class and the nanoseconds of each input.
fn batch<T, R>(make: impl Fn(bool) -> T, work: impl Fn(T) -> R) -> Vec<(bool, f64)> {
    let mut classes = [0; BATCH];
    OsRandom.fill(&mut classes).unwrap();
    let inputs: Vec<_> = classes
        .iter()
        .map(|class| (class % 2 == 1, make(class % 2 == 1)))
        .collect();
    let time = |(class, input)| {
        let begun = Instant::now();
        let done = black_box(work(black_box(input)));
        let took = begun.elapsed();
        drop(done);
        (class, took.as_nanos() as f64)
    };
    inputs.into_iter().map(time).collect()
}

/// Percentiles from one half to all.
fn percentiles(timed: &[(bool, f64)]) -> Vec<f64> {
    let mut times: Vec<_> = timed.iter().map(|(_, time)| *time).collect();
    times.sort_by(f64::total_cmp);
    let part = |crop: usize| 1.0 - 0.5_f64.powf(10.0 * (crop + 1) as f64 / CROPS as f64);
    let limits = (0..CROPS - 1).map(|crop| times[(part(crop) * BATCH as f64) as usize]);
    limits.chain([f64::INFINITY]).collect()
}

/// Count, mean and sum of squared deviations of samples.
#[derive(Clone, Copy, Debug, Default)]
struct Moments {
    count: u64,
    mean: f64,
    squares: f64,
}

impl Moments {
    fn add(&mut self, figure: f64) {
        self.count += 1;
        let distance = figure - self.mean;
        self.mean += distance / self.count as f64;
        self.squares += distance * (figure - self.mean);
    }

    /// The variance of the mean.
    fn variance(&self) -> f64 {
        self.squares / (self.count - 1) as f64 / self.count as f64
    }
}

/// Absolute value of Welch's t.
fn t([one, other]: &[Moments; 2]) -> f64 {
    (one.mean - other.mean).abs() / (one.variance() + other.variance()).sqrt()
}
