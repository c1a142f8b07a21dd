//! Finds the tenant to move, and the progress of an earlier attempt, from the markers at each place.

use knowhow_domain::{Error, Result};

use super::side::{MoveSide, TenantMarker, cannot};
use super::stream::Stream;
use super::{Move, MoveState, Moving, tables};

const TWICE: &str = "the tenant lives at two places: one is a copy of the other or was restored from a backup";

impl Moving {
    /// Finds the tenant. If a place has the tenant without a marker, that decides, because markers and rows of old
    /// moves may remain at other places. Advisory locks prevent concurrent moves of the tenant; they end with the
    /// connections.
    pub(super) async fn find(order: &Move<'_>) -> Result<Self> {
        let mut target = None;
        let (mut here, mut left) = (None, Vec::new());
        for place in order.places {
            let mut side = MoveSide::connect(place).await?;
            if place.name == order.to {
                target = Some(side);
                continue;
            }
            let Some(tenant) = side.find(order.slug).await? else { continue };
            side.lock(tenant).await?;
            match side.says(tenant).await? {
                TenantMarker::Here if here.is_none() => here = Some((tenant, side)),
                TenantMarker::Here => return Err(cannot(TWICE.into())),
                TenantMarker::Leaving(place) => left.push((tenant, side, place)),
                TenantMarker::Coming(_) | TenantMarker::Nothing => {}
            }
        }
        let missing = || Error::Malformed(format!("DATABASE_URLS has no place '{}'", order.to));
        let mut to = target.ok_or_else(missing)?;
        let Some(tenant) = here.as_ref().map(|(tenant, _)| *tenant).or(left.first().map(|(tenant, ..)| *tenant)) else {
            return Err(Self::explain_missing(order, &mut to, None).await?);
        };
        to.lock(tenant).await?;
        let (state, mut from) = match (to.says(tenant).await?, here) {
            (TenantMarker::Here, Some(_)) => return Err(cannot(TWICE.into())),
            (_, Some((_, side))) => (MoveState::Stays, side),
            (TenantMarker::Here, None) => (MoveState::Gone, left.remove(0).1),
            (says, None) => match left
                .iter()
                .position(|(_, side, place)| *place == to.name && says == TenantMarker::Coming(side.name.clone()))
            {
                Some(index) => (MoveState::Between, left.remove(index).1),
                None => {
                    let goes_to = left.pop().map(|(_, _, place)| place);
                    return Err(Self::explain_missing(order, &mut to, goes_to).await?);
                }
            },
        };
        let stream = Stream::of(tenant);
        stream.require_own(&mut from, &to).await?;
        let tables = tables::list(&mut from).await?;
        let left = left.into_iter().map(|(_, side, _)| side).collect();
        Ok(Self { tenant, from, to, left, state, stream, tables, grace: order.grace })
    }

    /// Returns the error for a tenant that no other place has.
    async fn explain_missing(order: &Move<'_>, to: &mut MoveSide, goes_to: Option<String>) -> Result<Error> {
        let marker = match to.find(order.slug).await? {
            Some(tenant) => to.says(tenant).await?,
            None => TenantMarker::Nothing,
        };
        let slug = order.slug;
        Ok(match (marker, goes_to) {
            (TenantMarker::Here, _) => cannot(format!("the tenant '{slug}' already lives at place '{}'", to.name)),
            (TenantMarker::Leaving(place), _) | (_, Some(place)) => cannot(format!(
                "the tenant '{slug}' is being moved to place '{place}': run that command again, or cancel it with --abort"
            )),
            _ => Error::not_found("tenant"),
        })
    }
}
