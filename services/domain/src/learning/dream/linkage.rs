//! Average-linkage clustering.

/// Matrix of pairwise similarities.
pub(super) struct Likeness {
    count: usize,
    /// Rows of the matrix, concatenated.
    cells: Vec<f32>,
}

impl Likeness {
    /// Computes the similarity of each pair once. The matrix is symmetric; its diagonal is negative infinity.
    pub(super) fn of(count: usize, mut alike: impl FnMut(usize, usize) -> f32) -> Self {
        let mut made = Self { count, cells: vec![f32::NEG_INFINITY; count * count] };
        for a in 0..count {
            for b in a + 1..count {
                made.set(a, b, alike(a, b));
            }
        }
        made
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn get(&self, a: usize, b: usize) -> f32 {
        self.cells[a * self.count + b]
    }

    fn set(&mut self, a: usize, b: usize, alike: f32) {
        self.cells[a * self.count + b] = alike;
        self.cells[b * self.count + a] = alike;
    }

    /// Returns the remaining item that is most similar to `of`. Among equally similar items, returns `first` if it is
    /// one of them, else the item with the lowest index.
    fn nearest(&self, of: usize, left: &[bool], first: Option<usize>) -> Option<usize> {
        let others = (0..self.count).filter(|other| left[*other] && *other != of);
        let nearest =
            others.reduce(|best, other| if self.get(of, other) > self.get(of, best) { other } else { best })?;
        Some(first.filter(|first| self.get(of, *first) >= self.get(of, nearest)).unwrap_or(nearest))
    }
}

/// Returns the groups of at least two members with a mean similarity of at least `cut`. The members of a group are
/// sorted.
///
/// Joins two groups if each is the other's nearest and they are similar enough. The similarity of two groups is the
/// mean over their members. Chains of nearest neighbours find such pairs in quadratic time (Murtagh 1983). The order of
/// joins does not matter, because a joined group is never more similar to a third group than both of its parts.
pub(super) fn link(mut likeness: Likeness, cut: f32) -> Vec<Vec<usize>> {
    let count = likeness.count();
    let mut groups: Vec<Vec<usize>> = (0..count).map(|at| vec![at]).collect();
    let mut left = vec![true; count];
    let mut chain: Vec<usize> = Vec::new();
    let mut next = 0;
    while next < count {
        let Some(&tip) = chain.last() else {
            if left[next] {
                chain.push(next);
            } else {
                next += 1;
            }
            continue;
        };
        let before = chain.len().checked_sub(2).map(|at| chain[at]);
        let nearest = likeness.nearest(tip, &left, before);
        let Some(nearest) = nearest.filter(|nearest| likeness.get(tip, *nearest) >= cut) else {
            // No other group is similar enough to `tip`, and later joins cannot change that.
            left[tip] = false;
            chain.pop();
            continue;
        };
        if before != Some(nearest) {
            chain.push(nearest);
            continue;
        }
        chain.truncate(chain.len() - 2);
        let (kept, gone) = (tip.min(nearest), tip.max(nearest));
        join(&mut likeness, [kept, gone], [kept, gone].map(|at| groups[at].len() as f32));
        left[gone] = false;
        let members = std::mem::take(&mut groups[gone]);
        groups[kept].extend(members);
    }
    groups.retain(|group| group.len() > 1);
    groups.iter_mut().for_each(|group| group.sort_unstable());
    groups
}

/// Computes the similarity of a joined group to every other group: the mean of the similarities of its parts, weighted
/// by their sizes.
fn join(likeness: &mut Likeness, [kept, gone]: [usize; 2], [kept_size, gone_size]: [f32; 2]) {
    for other in (0..likeness.count()).filter(|other| *other != kept && *other != gone) {
        let parts = (likeness.get(kept, other), likeness.get(gone, other));
        let mean = (parts.0 * kept_size + parts.1 * gone_size) / (kept_size + gone_size);
        // Rounding could make the mean larger than both parts, and the chain would never end.
        likeness.set(kept, other, mean.min(parts.0.max(parts.1)));
    }
}

#[cfg(test)]
mod tests;
