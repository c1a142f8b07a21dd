//! Merges the rankings of several texts from one message.

use super::ranking::{Hit, Ranking};

impl Ranking {
    /// Merges the rankings of a message's texts, each with its weight. Only texts with a fit of at least `floor`
    /// contribute hits. If at most one text reaches this fit, returns the ranking with the best fit.
    pub fn merge(rankings: Vec<(Self, f32)>, floor: f32) -> Self {
        let mut weighed: Vec<Self> =
            rankings.into_iter().map(|(ranking, weight)| Self { fit: ranking.fit * weight, ..ranking }).collect();
        // The sort is stable: among rankings of equal fit, the more important text stays first.
        weighed.sort_by(|a, b| b.fit.total_cmp(&a.fit));
        let fitting = weighed.iter().filter(|ranking| ranking.fit >= floor).count();
        let Some(best) = weighed.first() else { return Self::default() };
        if fitting <= 1 {
            return weighed.swap_remove(0);
        }
        let (fit, context, longness, reach) = (best.fit, best.context, best.longness, best.max_distance());
        let mut hits: Vec<Hit> = Vec::new();
        for ranking in &weighed[..fitting] {
            for hit in ranking.relevant(floor) {
                let closeness = hit.closeness * ranking.fit / fit;
                let hit = Hit { closeness, score: closeness.ln().max(-reach), ..*hit };
                match hits.iter_mut().find(|known| known.skill == hit.skill) {
                    Some(known) if known.closeness < hit.closeness => *known = hit,
                    Some(_) => {}
                    None => hits.push(hit),
                }
            }
        }
        hits.sort_by(|a, b| b.closeness.total_cmp(&a.closeness));
        Self { hits, fit, context, best: 0.0, longness, near: Vec::new() }
    }
}

#[cfg(test)]
mod tests;
