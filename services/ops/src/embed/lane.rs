//! The waiting texts of one priority, in a line for each tenant and within it for each user. The next text is of the
//! asker that has used the model least, in bytes of text. So an asker with many texts makes others wait for no more
//! than the batch in hand (start-time fair queueing).

use std::collections::{HashMap, VecDeque};

use knowhow_domain::{TenantId, UserId};

use super::EmbedError;
use super::queue::QueuedText;
use crate::Asker;

/// The lines, and how far the model has come with them.
#[derive(Default)]
pub(super) struct Lane {
    tenants: HashMap<TenantId, Tenant>,
    now: u64,
    length: usize,
    /// Counts all that ever came, so that of equals the first goes first.
    arrivals: u64,
}

#[derive(Default)]
struct Tenant {
    users: HashMap<UserId, User>,
    now: u64,
    had: u64,
    length: usize,
}

#[derive(Default)]
struct User {
    tasks: VecDeque<(u64, QueuedText)>,
    had: u64,
}

/// How much of the model the asker of a text has had, the text included: those who have had less may pass it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    asker: Asker,
    tenant_had: u64,
    user_had: u64,
}

impl Lane {
    /// How many texts wait.
    pub(super) fn len(&self) -> usize {
        self.length
    }

    /// Bytes of all texts that wait.
    pub(super) fn bytes(&self) -> u64 {
        self.tenants.values().flat_map(Tenant::lengths).sum()
    }

    /// Bytes of the texts that the model comes to before a new one of this asker, as it looks now: one's own, and those of
    /// others that begin before they have had more.
    pub(super) fn bytes_before(&self, asker: Asker) -> u64 {
        let line = self.tenants.get(&asker.tenant);
        let own = line.map_or(0, |line| line.bytes_before(asker.user));
        let had = line.map_or(self.now, |line| if line.length == 0 { line.had.max(self.now) } else { line.had });
        let others = self.tenants.iter().filter(|(tenant, _)| **tenant != asker.tenant);
        own + others.map(|(_, other)| bytes_begun(other.lengths(), other.had, had + own)).sum::<u64>()
    }

    /// Puts a text at the end of its asker's line.
    pub(super) fn push(&mut self, task: QueuedText) {
        let Asker { tenant, user } = task.asker;
        let of_tenant = self.tenants.entry(tenant).or_default();
        if of_tenant.length == 0 {
            // An asker that has not asked for a while has saved nothing up.
            of_tenant.had = of_tenant.had.max(self.now);
        }
        let of_user = of_tenant.users.entry(user).or_default();
        if of_user.tasks.is_empty() {
            of_user.had = of_user.had.max(of_tenant.now);
        }
        of_user.tasks.push_back((self.arrivals, task));
        self.arrivals += 1;
        of_tenant.length += 1;
        self.length += 1;
    }

    /// Whose turn it is; nobody's where nothing waits.
    pub(super) fn next(&self) -> Option<Asker> {
        let waiting = self.tenants.iter().filter(|(_, line)| line.length > 0);
        let (tenant, line) = waiting.min_by_key(|(_, line)| (line.had, line.oldest()))?;
        let waiting = line.users.iter().filter(|(_, line)| !line.tasks.is_empty());
        let (user, _) = waiting.min_by_key(|(_, line)| (line.had, line.oldest()))?;
        Some(Asker { tenant: *tenant, user: *user })
    }

    /// The first text of an asker.
    pub(super) fn first(&self, asker: Asker) -> Option<&QueuedText> {
        self.tenants.get(&asker.tenant)?.users.get(&asker.user)?.tasks.front().map(|(_, task)| task)
    }

    /// Takes that text out.
    pub(super) fn pop(&mut self, asker: Asker) -> Option<QueuedText> {
        let line = self.tenants.get_mut(&asker.tenant)?;
        let (_, task) = line.users.get_mut(&asker.user)?.tasks.pop_front()?;
        line.length -= 1;
        self.length -= 1;
        Some(task)
    }

    /// Counts what the model is about to do for an asker.
    pub(super) fn charge(&mut self, asker: Asker, bytes: usize) -> Mark {
        let line = self.tenants.entry(asker.tenant).or_default();
        self.now = self.now.max(line.had);
        line.had += bytes as u64;
        let user = line.users.entry(asker.user).or_default();
        line.now = line.now.max(user.had);
        user.had += bytes as u64;
        let mark = Mark { asker, tenant_had: line.had, user_had: user.had };
        self.forget();
        mark
    }

    /// Whether this asker has had less than the one of a text that is in hand.
    pub(super) fn may_pass(&self, asker: Asker, mark: Mark) -> bool {
        let Some(line) = self.tenants.get(&asker.tenant) else { return false };
        if asker.tenant != mark.asker.tenant {
            return line.had < mark.tenant_had;
        }
        asker.user != mark.asker.user && line.users.get(&asker.user).is_some_and(|user| user.had < mark.user_had)
    }

    /// Lets go of what nobody waits for.
    pub(super) fn drop_unwanted(&mut self) {
        for line in self.tenants.values_mut() {
            line.users.values_mut().for_each(|user| user.tasks.retain(|(_, task)| task.is_wanted()));
            line.length = line.users.values().map(|user| user.tasks.len()).sum();
        }
        self.length = self.tenants.values().map(|line| line.length).sum();
    }

    /// Makes room for so many texts of an asker in a full lane: refuses the latest texts of the asker that has the most
    /// there. Returns `None` if nobody has more than this asker would have.
    pub(super) fn make_room(&mut self, asker: Asker, count: usize, limit: usize) -> Option<()> {
        while self.length + count > limit {
            let own = self.tenants.get(&asker.tenant);
            let own_of_user = own.and_then(|line| line.users.get(&asker.user)).map_or(0, |user| user.tasks.len());
            let own_of_tenant = own.map_or(0, |line| line.length);
            let (tenant, line) = self.tenants.iter_mut().max_by_key(|(_, line)| line.length)?;
            let (user, longest) = line.users.iter_mut().max_by_key(|(_, user)| user.tasks.len())?;
            let has_more = match *tenant == asker.tenant {
                true => *user != asker.user && longest.tasks.len() > own_of_user + count,
                false => line.length > own_of_tenant + count,
            };
            let (_, last) = has_more.then(|| longest.tasks.pop_back()).flatten()?;
            last.refuse(EmbedError::Busy(limit));
            line.length -= 1;
            self.length -= 1;
        }
        Some(())
    }

    /// Forgets askers that have no text here and have used the model no more than the next asker: a new asker counts
    /// the same.
    fn forget(&mut self) {
        let now = self.now;
        self.tenants.retain(|_, line| line.length > 0 || line.had > now);
        for line in self.tenants.values_mut() {
            let now = line.now;
            line.users.retain(|_, user| !user.tasks.is_empty() || user.had > now);
        }
    }
}

/// Bytes of the texts of a line that begin before, with those ahead of them, it has had more than `until`.
fn bytes_begun(lengths: impl Iterator<Item = u64>, had: u64, until: u64) -> u64 {
    let mut begun = 0;
    for length in lengths {
        if had + begun > until {
            break;
        }
        begun += length;
    }
    begun
}

impl Tenant {
    fn lengths(&self) -> impl Iterator<Item = u64> {
        self.users.values().flat_map(User::lengths)
    }

    fn bytes_before(&self, user: UserId) -> u64 {
        let line = self.users.get(&user);
        let own = line.map_or(0, |line| line.lengths().sum());
        let had = line.map_or(self.now, |line| if own == 0 { line.had.max(self.now) } else { line.had });
        let others = self.users.iter().filter(|(other, _)| **other != user);
        own + others.map(|(_, other)| bytes_begun(other.lengths(), other.had, had + own)).sum::<u64>()
    }

    fn oldest(&self) -> u64 {
        self.users.values().map(User::oldest).min().unwrap_or(u64::MAX)
    }
}

impl User {
    fn lengths(&self) -> impl Iterator<Item = u64> {
        self.tasks.iter().filter(|(_, task)| task.is_wanted()).map(|(_, task)| task.text.len() as u64)
    }

    fn oldest(&self) -> u64 {
        self.tasks.front().map_or(u64::MAX, |(arrival, _)| *arrival)
    }
}
