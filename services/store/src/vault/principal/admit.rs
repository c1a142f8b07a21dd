//! Creates principals from verified credentials, from the shell, or from claimed jobs.

use std::sync::Arc;

use knowhow_domain::{Error, Result, Scope, Scopes, UserId};

use super::bearer::{Bearer, Caller};
use super::{Actor, Gate, Principal};
use crate::across::system::{self, Claim, MadeBy, OwnerDetails, RequestUser};
use crate::jobs::{Claimed, JobError};
use crate::vault::external_id::check_external_id;
use crate::vault::known_callers::{KnownTenant, KnownUser};

impl Gate {
    /// Returns the operator principal of the command line, which has the service's database credentials and secret
    /// key.
    ///
    /// # Errors
    /// `NotFound` if the tenant does not exist.
    pub async fn operator_at_shell(&self, slug: Option<&str>) -> Result<Principal> {
        let tenant = match slug {
            Some(slug) => self.tenant(slug).await?.ok_or_else(|| Error::not_found("tenant"))?,
            None => Arc::new(KnownTenant::nowhere()),
        };
        Ok(Principal {
            erasures: tenant.erasures,
            tenant,
            user: None,
            scopes: [Scope::Admin].into_iter().collect(),
            operator: true,
            views: false,
            key: None,
            issuer: None,
            actor: Actor::of(Caller::Shell.name(None)),
            starters_release: None,
        })
    }

    /// Returns a principal of the command line that acts for a user, with the scopes of a user. It cannot review, so
    /// its changes never count as reviewed. It gains no rights, because the shell could mint the user's token; but
    /// the service then needs no key of the tenant's issuer.
    ///
    /// # Errors
    /// `NotFound` if the tenant does not exist; `Malformed` for an invalid user id.
    pub async fn user_at_shell(&self, slug: &str, external_id: &str) -> Result<Principal> {
        let tenant = self.tenant(slug).await?.ok_or_else(|| Error::not_found("tenant"))?;
        let (external_id, scopes) = (Some(Arc::from(external_id)), Scopes::of_user());
        let (caller, expires_at) = (Caller::Shell, None);
        self.admit(Bearer { tenant, external_id, key: None, issuer: None, scopes, caller, expires_at }).await
    }

    /// Finds or creates the user of a verified credential.
    ///
    /// # Errors
    /// `Suspended` if the tenant or the user is suspended (an operator may act in a suspended tenant); `Malformed`
    /// for an invalid `Knowhow-User`; `Quota` if the tenant has its maximum number of users; `Unavailable`.
    pub async fn admit(&self, bearer: Bearer) -> Result<Principal> {
        let operator = bearer.is_operator();
        let Bearer { tenant, external_id, key, issuer, scopes, caller, expires_at: _ } = bearer;
        if !operator {
            refuse_suspended("tenant", tenant.suspended.as_deref())?;
        }
        let shown = caller.name(external_id.as_deref()).into();
        let (user, starters_release) = match external_id {
            None => (None, None),
            Some(external) => {
                check_external_id(&external)?;
                let by = |id: UserId| caller.name(Some(&id.to_string()));
                let known = self.user(&tenant, &external, &by).await?;
                refuse_suspended("user", known.suspended.as_deref())?;
                (Some((known.id, external)), known.starters_release)
            }
        };
        let id = user.as_ref().map(|(id, _)| id.to_string());
        let actor = Actor { stored: caller.name(id.as_deref()).into(), shown };
        let erasures = tenant.erasures;
        Ok(Principal { tenant, user, scopes, operator, views: false, key, issuer, actor, starters_release, erasures })
    }

    /// Returns the principal of a claimed job: its user, with all scopes of a user. Returns `None` for a system job,
    /// or if the user or tenant no longer exists.
    ///
    /// # Errors
    /// `Refused` if the database did not enqueue the job for this user; `Suspended` if the job must wait; otherwise
    /// `Unavailable`.
    pub async fn by_claimed_job(&self, claimed: &Claimed) -> Result<Option<Principal>, JobError> {
        let Some((tenant, user)) = claimed.owner() else { return Ok(None) };
        let claim = Claim { tenant, user, task: claimed.task(), payload: claimed.payload() };
        let found = system::find_owner(&self.db, &claim).await?;
        let Some((owner, is_sealed)) = found else { return Ok(None) };
        if !is_sealed {
            return Err(JobError::Refused);
        }
        let OwnerDetails { tenant, external_id, starters_release, suspended } = owner;
        if let Some((error, since)) = suspended {
            return Err(JobError::Suspended { error, lasted: self.state.clock.now() - since });
        }
        Ok(Some(Principal {
            erasures: tenant.erasures,
            tenant: Arc::new(tenant),
            user: Some((user, external_id.into())),
            scopes: Scopes::of_user(),
            operator: false,
            views: false,
            key: None,
            issuer: None,
            actor: Actor::of(format!("job:{}", claimed.task())),
            starters_release,
        }))
    }

    /// Finds or creates the user with this external id.
    ///
    /// # Errors
    /// `Forbidden` unless the caller is an admin; `Malformed` for an invalid id.
    pub async fn ensure_user(&self, admin: &Principal, external_id: &str) -> Result<UserId> {
        admin.require_admin()?;
        check_external_id(external_id)?;
        Ok(self.user(&admin.tenant, external_id, &|_| admin.actor().to_owned()).await?.id)
    }

    /// Finds or creates the user with this external id. The audit log records `by` as its creator.
    async fn user(&self, tenant: &KnownTenant, external_id: &str, by: &MadeBy<'_>) -> Result<KnownUser> {
        let now = self.state.clock.now();
        let (erasures, most) = (tenant.erasures, tenant.settings.users);
        let requested = RequestUser { tenant: tenant.id, erasures, most, external_id, by, now };
        self.state.user(&self.db.at(tenant.place), &requested).await
    }
}

fn refuse_suspended(what: &'static str, reason: Option<&str>) -> Result<()> {
    reason.map_or(Ok(()), |reason| Err(Error::Suspended { what, reason: reason.to_owned() }))
}
