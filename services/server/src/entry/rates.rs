//! How many requests a second each user, API key and tenant may send. Asked once the credential is verified, and before the
//! database is asked for the user or for anything that the request is about: what is refused costs next to nothing.

use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use actix_web::HttpRequest;
use actix_web::web::Data;
use governor::clock::{Clock, MonotonicClock};
use governor::middleware::StateInformationMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use knowhow_domain::{Error, Result, TenantId, manifest};
use knowhow_store::Bearer;
use moka::policy::EvictionPolicy;

use super::client;
use super::shared_rates::{self, SharedRates};
use super::standing::Standing;

/// How many seconds' worth of requests may come at once.
const BURST: u32 = 3;
/// Callers whose requests are counted. The one that was silent for longest is forgotten for another one.
const CALLERS: u64 = 100_000;
/// A caller that is silent for so long has all its requests again, so nothing is lost by forgetting it.
const KNOWN_FOR: Duration = Duration::from_secs(4 * BURST as u64);

/// What the deployment gives those whose tenant says nothing else, requests a second; 0 for any number.
#[derive(Debug, Clone, Copy)]
pub struct Defaults {
    /// All of a tenant together.
    pub tenant: u32,
    pub user: u32,
    pub key: u32,
    /// An address, without a credential.
    pub address: u32,
}

/// Whose requests are counted together.
#[derive(Hash)]
enum Who<'a> {
    User(TenantId, &'a str),
    Operator(String),
    Key(uuid::Uuid),
    Tenant(TenantId),
    Address(IpAddr),
}

impl Who<'_> {
    fn name(&self) -> &'static str {
        match self {
            Self::User(..) => "user",
            Self::Operator(_) => "operator",
            Self::Key(_) => "API key",
            Self::Tenant(_) => "tenant",
            Self::Address(_) => "address",
        }
    }
}

/// How many requests a second one may send.
struct Limit<'a> {
    who: Who<'a>,
    rate: NonZeroU32,
}

impl<'a> Limit<'a> {
    /// `None` for any number.
    fn of(who: Who<'a>, rate: u32) -> Option<Self> {
        NonZeroU32::new(rate).map(|rate| Self { who, rate })
    }

    /// As it is counted for all processes. No name of a person is in the key, and all keys of a tenant are in one part of a cluster.
    fn shared(&self, tenant: TenantId) -> shared_rates::Counted {
        let digest = |text: &str| manifest::hex(&manifest::digest(text.as_bytes()));
        let who = match &self.who {
            Who::User(_, user) => format!("user:{}", digest(user)),
            Who::Operator(actor) => format!("operator:{}", digest(actor)),
            Who::Key(key) => format!("key:{key}"),
            Who::Tenant(_) => "all".to_owned(),
            Who::Address(address) => format!("address:{}", digest(&address.to_string())),
        };
        shared_rates::Counted { key: format!("knowhow:rate:{{{tenant}}}:{who}"), rate: self.rate.get() }
    }

    fn refuse(&self, wait: Duration) -> Error {
        let detail = format!(
            "the {} sends more than {} requests a second, or {} at once, the limit; wait, and send them more slowly",
            self.who.name(),
            self.rate,
            self.rate.get() * BURST
        );
        Error::RateLimited { detail, retry_after: whole_seconds(wait) }
    }
}

/// The requests of all callers, as far as they were counted lately.
pub struct Rates {
    defaults: Defaults,
    counted: moka::sync::Cache<u64, Arc<Counted>>,
    hasher: RandomState,
}

type Limiter = RateLimiter<NotKeyed, InMemoryState, MonotonicClock, StateInformationMiddleware>;

struct Counted {
    rate: NonZeroU32,
    limiter: Limiter,
}

impl Counted {
    fn new(rate: NonZeroU32) -> Arc<Self> {
        let quota = Quota::per_second(rate).allow_burst(rate.saturating_mul(BURST_OF_ONE));
        let limiter = RateLimiter::direct_with_clock(quota, MonotonicClock).with_middleware();
        Arc::new(Self { rate, limiter })
    }
}

const BURST_OF_ONE: NonZeroU32 = NonZeroU32::MIN.saturating_add(BURST - 1);

impl Rates {
    /// Nobody has sent anything yet.
    pub fn new(defaults: Defaults) -> Self {
        let counted = moka::sync::Cache::builder()
            .max_capacity(CALLERS)
            .time_to_idle(KNOWN_FOR)
            // Any other policy would keep those who come often and never count a newcomer.
            .eviction_policy(EvictionPolicy::lru())
            .build();
        Self { defaults, counted, hasher: RandomState::new() }
    }

    /// Counts a request whose credential is good: for its user first, so that one who sends too many takes nothing of what the
    /// others of the tenant may send; then, where Redis is, over all processes.
    ///
    /// # Errors
    /// `RateLimited`.
    pub(super) async fn count(&self, request: &HttpRequest, caller: &Bearer) -> Result<()> {
        let limits = self.limits(caller);
        let mut standing = Standing::new(request);
        limits.iter().try_for_each(|limit| self.take(&mut standing, limit))?;
        let Some(shared) = request.app_data::<Data<SharedRates>>() else { return Ok(()) };
        let counted: Vec<_> = limits.iter().map(|limit| limit.shared(caller.tenant())).collect();
        let Some(told) = shared.count(&counted, BURST).await else { return Ok(()) };
        for (limit, left) in limits.iter().zip(told.left) {
            standing.note(limit.rate.get(), BURST, left);
        }
        match told.refused.and_then(|(at, wait)| Some((limits.get(at)?, wait))) {
            Some((limit, wait)) => Err(limit.refuse(wait)),
            None => Ok(()),
        }
    }

    /// What bounds a caller, in the order in which it is counted.
    fn limits<'a>(&self, caller: &'a Bearer) -> Vec<Limit<'a>> {
        let (settings, defaults, tenant) = (caller.settings(), &self.defaults, caller.tenant());
        if caller.is_operator() {
            return Limit::of(Who::Operator(caller.actor()), defaults.user).into_iter().collect();
        }
        let user = caller.external_id().and_then(|user| {
            Limit::of(Who::User(tenant, user), settings.user_requests_per_second.unwrap_or(defaults.user))
        });
        let key = caller
            .key()
            .and_then(|key| Limit::of(Who::Key(key.0), settings.key_requests_per_second.unwrap_or(defaults.key)));
        let all = Limit::of(Who::Tenant(tenant), settings.requests_per_second.unwrap_or(defaults.tenant));
        user.into_iter().chain(key).chain(all).collect()
    }

    /// Counts a request without a credential.
    ///
    /// # Errors
    /// `RateLimited`.
    pub fn count_stranger(&self, request: &HttpRequest) -> Result<()> {
        let address = client::counted_address(request);
        let limit = address.and_then(|address| Limit::of(Who::Address(address), self.defaults.address));
        limit.map_or(Ok(()), |limit| self.take(&mut Standing::new(request), &limit))
    }

    fn take(&self, standing: &mut Standing<'_>, limit: &Limit<'_>) -> Result<()> {
        let counted = self.counted(self.hasher.hash_one(&limit.who), limit.rate);
        match counted.limiter.check() {
            Ok(left) => {
                standing.note(limit.rate.get(), BURST, left.remaining_burst_capacity());
                Ok(())
            }
            Err(until) => {
                standing.note(limit.rate.get(), BURST, 0);
                Err(limit.refuse(until.wait_time_from(MonotonicClock.now())))
            }
        }
    }

    /// The requests of one caller. Where its rate has changed, it begins anew.
    fn counted(&self, key: u64, rate: NonZeroU32) -> Arc<Counted> {
        let counted = self.counted.get_with(key, || Counted::new(rate));
        if counted.rate == rate {
            return counted;
        }
        let anew = Counted::new(rate);
        self.counted.insert(key, anew.clone());
        anew
    }
}

/// A time to wait as `Retry-After` says it.
fn whole_seconds(wait: Duration) -> u32 {
    u32::try_from(wait.as_nanos().div_ceil(1_000_000_000)).unwrap_or(u32::MAX).max(1)
}
