//! Fair queue of the texts of one priority, by tenant and within a tenant by user. The next text belongs to the
//! caller that has used the model least, in bytes of text (start-time fair queueing). A caller with many texts
//! therefore delays others by at most the running batch.

use std::collections::{HashMap, VecDeque};

use knowhow_domain::{TenantId, UserId};

use super::EmbedError;
use super::queued_text::QueuedText;
use crate::Asker;

/// The queues of all tenants, and the virtual time of fair queueing.
#[derive(Default)]
pub(super) struct Lane {
    tenants: HashMap<TenantId, Tenant>,
    now: u64,
    length: usize,
    /// Counter of arrivals, so that callers with equal use are served in the order of arrival.
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

/// The caller's use of the model, in bytes, including a running text. Callers with less use may overtake this text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    asker: Asker,
    tenant_had: u64,
    user_had: u64,
}

impl Lane {
    /// Returns the number of queued texts.
    pub(super) fn len(&self) -> usize {
        self.length
    }

    /// Returns the number of bytes in all queued texts.
    pub(super) fn bytes(&self) -> u64 {
        self.tenants.values().flat_map(Tenant::lengths).sum()
    }

    /// Returns the number of bytes of text that are served before a new text of this caller: the caller's own texts,
    /// and texts that other callers start before their use exceeds this caller's use.
    pub(super) fn bytes_before(&self, asker: Asker) -> u64 {
        let line = self.tenants.get(&asker.tenant);
        let own = line.map_or(0, |line| line.bytes_before(asker.user));
        let had = line.map_or(self.now, |line| if line.length == 0 { line.had.max(self.now) } else { line.had });
        let others = self.tenants.iter().filter(|(tenant, _)| **tenant != asker.tenant);
        own + others.map(|(_, other)| bytes_begun(other.lengths(), other.had, had + own)).sum::<u64>()
    }

    /// Appends a text to its caller's queue.
    pub(super) fn push(&mut self, task: QueuedText) {
        let Asker { tenant, user } = task.asker;
        let of_tenant = self.tenants.entry(tenant).or_default();
        if of_tenant.length == 0 {
            // An idle caller does not accumulate credit.
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

    /// Returns the caller of the next text, or `None` if the queue is empty.
    pub(super) fn next(&self) -> Option<Asker> {
        let waiting = self.tenants.iter().filter(|(_, line)| line.length > 0);
        let (tenant, line) = waiting.min_by_key(|(_, line)| (line.had, line.oldest()))?;
        let waiting = line.users.iter().filter(|(_, line)| !line.tasks.is_empty());
        let (user, _) = waiting.min_by_key(|(_, line)| (line.had, line.oldest()))?;
        Some(Asker { tenant: *tenant, user: *user })
    }

    /// Returns the first text of a caller.
    pub(super) fn first(&self, asker: Asker) -> Option<&QueuedText> {
        self.tenants.get(&asker.tenant)?.users.get(&asker.user)?.tasks.front().map(|(_, task)| task)
    }

    /// Removes the first text of a caller.
    pub(super) fn pop(&mut self, asker: Asker) -> Option<QueuedText> {
        let line = self.tenants.get_mut(&asker.tenant)?;
        let (_, task) = line.users.get_mut(&asker.user)?.tasks.pop_front()?;
        line.length -= 1;
        self.length -= 1;
        Some(task)
    }

    /// Adds the bytes that the model is about to process to the caller's use. Returns the new use.
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

    /// Returns whether this caller has used the model less than the caller of a running text.
    pub(super) fn may_pass(&self, asker: Asker, mark: Mark) -> bool {
        let Some(line) = self.tenants.get(&asker.tenant) else { return false };
        if asker.tenant != mark.asker.tenant {
            return line.had < mark.tenant_had;
        }
        asker.user != mark.asker.user && line.users.get(&asker.user).is_some_and(|user| user.had < mark.user_had)
    }

    /// Drops texts if their callers no longer wait.
    pub(super) fn drop_unwanted(&mut self) {
        for line in self.tenants.values_mut() {
            line.users.values_mut().for_each(|user| user.tasks.retain(|(_, task)| task.is_wanted()));
            line.length = line.users.values().map(|user| user.tasks.len()).sum();
        }
        self.length = self.tenants.values().map(|line| line.length).sum();
    }

    /// Frees space for `count` texts in a full queue: rejects the latest texts of the caller with the most texts.
    /// Returns `None` if no other caller has more texts than `asker` would have.
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

    /// Removes a caller without queued texts if its use does not exceed the virtual time. A new entry would start at
    /// the virtual time anyway.
    fn forget(&mut self) {
        let now = self.now;
        self.tenants.retain(|_, line| line.length > 0 || line.had > now);
        for line in self.tenants.values_mut() {
            let now = line.now;
            line.users.retain(|_, user| !user.tasks.is_empty() || user.had > now);
        }
    }
}

/// Returns the number of bytes of a caller's texts that start before the caller's use, which is `had` now, exceeds
/// `until`.
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
