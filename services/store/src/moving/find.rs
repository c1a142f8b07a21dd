//! Finds a tenant that is to be moved, and how far a move of it has come, by what each place says of it.

use knowhow_domain::{Error, Result};

use super::side::{Says, Side, cannot};
use super::stream::Stream;
use super::{Move, Moving, State, tables};

const TWICE: &str = "the tenant lives at two places: one of them is a copy of the other, or was restored";

impl Moving {
    /// Finds the tenant. The place where it lives goes before any mark: marks of moves that ended long ago may be left, with rows. Only
    /// one such command works on it: the locks end with the connections.
    pub(super) async fn find(order: &Move<'_>) -> Result<Self> {
        let mut target = None;
        let (mut here, mut left) = (None, Vec::new());
        for place in order.places {
            let mut side = Side::connect(place).await?;
            if place.name == order.to {
                target = Some(side);
                continue;
            }
            let Some(tenant) = side.find(order.slug).await? else { continue };
            side.lock(tenant).await?;
            match side.says(tenant).await? {
                Says::Here if here.is_none() => here = Some((tenant, side)),
                Says::Here => return Err(cannot(TWICE.into())),
                Says::Leaving(place) => left.push((tenant, side, place)),
                Says::Coming(_) | Says::Nothing => {}
            }
        }
        let missing = || Error::Malformed(format!("DATABASE_URLS has no place '{}'", order.to));
        let mut to = target.ok_or_else(missing)?;
        let Some(tenant) = here.as_ref().map(|(tenant, _)| *tenant).or(left.first().map(|(tenant, ..)| *tenant)) else {
            return Err(Self::explain_missing(order, &mut to, None).await?);
        };
        to.lock(tenant).await?;
        let (state, mut from) = match (to.says(tenant).await?, here) {
            (Says::Here, Some(_)) => return Err(cannot(TWICE.into())),
            (_, Some((_, side))) => (State::Stays, side),
            (Says::Here, None) => (State::Gone, left.remove(0).1),
            (says, None) => match left
                .iter()
                .position(|(_, side, place)| *place == to.name && says == Says::Coming(side.name.clone()))
            {
                Some(index) => (State::Between, left.remove(index).1),
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

    /// Why no other place has the tenant to move.
    async fn explain_missing(order: &Move<'_>, to: &mut Side, goes_to: Option<String>) -> Result<Error> {
        let said = match to.find(order.slug).await? {
            Some(tenant) => to.says(tenant).await?,
            None => Says::Nothing,
        };
        let slug = order.slug;
        Ok(match (said, goes_to) {
            (Says::Here, _) => cannot(format!("the tenant '{slug}' lives at place '{}' already", to.name)),
            (Says::Leaving(place), _) | (_, Some(place)) => cannot(format!(
                "the tenant '{slug}' is on its way to place '{place}': give that command again, or end it with --abort"
            )),
            _ => Error::not_found("tenant"),
        })
    }
}
