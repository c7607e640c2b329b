//! Suggestions for misspelt names.

/// Minimum similarity of a suggestion. Clap uses the same bound.
const LEAST_SIMILARITY: f64 = 0.7;

/// Returns the most similar of the known names, if one is similar enough.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let rated = known.into_iter().map(|known| (strsim::jaro(name, known), known));
    let best = rated.max_by(|(one, _), (other, _)| one.total_cmp(other))?;
    (best.0 > LEAST_SIMILARITY).then_some(best.1)
}
