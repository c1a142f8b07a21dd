//! Average linkage: groups of things that are like each other in the mean.

/// How alike each two of some things are.
pub(super) struct Likeness {
    count: usize,
    /// All rows of the matrix, one after the other.
    cells: Vec<f32>,
}

impl Likeness {
    /// Asks for each pair once; both orders are alike, and nothing is compared with itself.
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

    /// The most alike of the others that are left; of several the one in `first`, else the earliest.
    fn nearest(&self, of: usize, left: &[bool], first: Option<usize>) -> Option<usize> {
        let others = (0..self.count).filter(|other| left[*other] && *other != of);
        let nearest =
            others.reduce(|best, other| if self.get(of, other) > self.get(of, best) { other } else { best })?;
        Some(first.filter(|first| self.get(of, *first) >= self.get(of, nearest)).unwrap_or(nearest))
    }
}

/// The groups of two and more whose members are in the mean at least `cut` alike, members in order.
///
/// Two groups that are each other's nearest are joined, until no two are near enough: so alike are two groups as their
/// members are in the mean. A chain of nearest groups finds such pairs in time that grows with the square of their number
/// (Murtagh 1983): a join never brings a group nearer to a third one than the nearer of its parts was, so the order of joins
/// does not matter.
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
            // Nothing is near enough to it, and later joins bring nothing nearer.
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

/// How alike the joined group is to each other one.
fn join(likeness: &mut Likeness, [kept, gone]: [usize; 2], [kept_size, gone_size]: [f32; 2]) {
    for other in (0..likeness.count()).filter(|other| *other != kept && *other != gone) {
        let parts = (likeness.get(kept, other), likeness.get(gone, other));
        let mean = (parts.0 * kept_size + parts.1 * gone_size) / (kept_size + gone_size);
        // Rounded, a mean may be more than both; the chain would not end.
        likeness.set(kept, other, mean.min(parts.0.max(parts.1)));
    }
}

#[cfg(test)]
mod tests;
