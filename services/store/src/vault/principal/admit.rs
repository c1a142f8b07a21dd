//! Where callers that were recognised become principals: of a credential, at the shell, or of a job that a worker has claimed.

use std::sync::Arc;

use knowhow_domain::{Error, Result, Scope, Scopes, UserId};

use super::bearer::{Bearer, Caller};
use super::{Actor, Gate, Principal, check_external_id};
use crate::across::system::{self, Claim, MadeBy, Newcomer, Owner};
use crate::queue::{Claimed, JobError};
use crate::vault::gate::{KnownTenant, KnownUser};

impl Gate {
    /// A person who runs the command line with the service's own database credentials and secret key is an operator.
    ///
    /// # Errors
    /// `NotFound` where there is no such tenant.
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
            key: None,
            issuer: None,
            actor: Actor::of(Caller::Shell.name(None)),
            starters_release: None,
        })
    }

    /// The same person at work for a user of a tenant, as that user's jobs would do it: with all that a user may do and no more,
    /// so that nothing counts as looked at by somebody who reviews. Such a person can mint the user's token; this spares a tenant
    /// an issuer whose tokens the service could sign.
    ///
    /// # Errors
    /// `NotFound` where there is no such tenant; `Malformed` for the user's id.
    pub async fn user_at_shell(&self, slug: &str, external_id: &str) -> Result<Principal> {
        let tenant = self.tenant(slug).await?.ok_or_else(|| Error::not_found("tenant"))?;
        let (external_id, scopes) = (Some(Arc::from(external_id)), Scopes::of_user());
        self.admit(Bearer { tenant, external_id, key: None, issuer: None, scopes, caller: Caller::Shell }).await
    }

    /// Finds or makes the user of a credential that was verified.
    ///
    /// # Errors
    /// `Suspended` where the tenant or the user is, but for operators; `Malformed` for an unusable `Knowhow-User`; `Quota` where the
    /// tenant may have no more users; `Unavailable`.
    pub async fn admit(&self, bearer: Bearer) -> Result<Principal> {
        let operator = bearer.is_operator();
        let Bearer { tenant, external_id, key, issuer, scopes, caller } = bearer;
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
        Ok(Principal { tenant, user, scopes, operator, key, issuer, actor, starters_release, erasures })
    }

    /// Whose job a worker has claimed: its user, with all that a user may do. `None` where the user or the tenant is gone,
    /// or the job is one of the system.
    ///
    /// # Errors
    /// `Refused` for a job that the database did not put into the queue for that user; `Suspended` where it has to wait; else
    /// `Unavailable`.
    pub async fn by_claimed_job(&self, claimed: &Claimed) -> Result<Option<Principal>, JobError> {
        let Some((tenant, user)) = claimed.owner() else { return Ok(None) };
        let claim = Claim { tenant, user, task: claimed.task(), payload: claimed.payload() };
        let found = system::find_owner(&self.db, &claim).await?;
        let Some((owner, is_sealed)) = found else { return Ok(None) };
        if !is_sealed {
            return Err(JobError::Refused);
        }
        let Owner { tenant, external_id, starters_release, suspended } = owner;
        if let Some((error, since)) = suspended {
            return Err(JobError::Suspended { error, lasted: self.state.clock.now() - since });
        }
        Ok(Some(Principal {
            erasures: tenant.erasures,
            tenant: Arc::new(tenant),
            user: Some((user, external_id.into())),
            scopes: Scopes::of_user(),
            operator: false,
            key: None,
            issuer: None,
            actor: Actor::of(format!("job:{}", claimed.task())),
            starters_release,
        }))
    }

    /// Makes the user that the tenant calls `external_id`, or finds it.
    ///
    /// # Errors
    /// `Forbidden` for anyone but an admin; `Malformed` for the id.
    pub async fn ensure_user(&self, admin: &Principal, external_id: &str) -> Result<UserId> {
        admin.require_admin()?;
        check_external_id(external_id)?;
        Ok(self.user(&admin.tenant, external_id, &|_| admin.actor().to_owned()).await?.id)
    }

    /// The user that the tenant calls `external_id`; made at first sight, as the audit log says of `by`.
    async fn user(&self, tenant: &KnownTenant, external_id: &str, by: &MadeBy<'_>) -> Result<KnownUser> {
        let now = self.state.clock.now();
        let (erasures, most) = (tenant.erasures, tenant.settings.users);
        let newcomer = Newcomer { tenant: tenant.id, erasures, most, external_id, by, now };
        self.state.user(&self.db.at(tenant.place), &newcomer).await
    }
}

fn refuse_suspended(what: &'static str, reason: Option<&str>) -> Result<()> {
    reason.map_or(Ok(()), |reason| Err(Error::Suspended { what, reason: reason.to_owned() }))
}
