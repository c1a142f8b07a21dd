//! Daily counts per skill: how often it was offered, and how often it was reported not to apply. `sessions/turn.rs`
//! counts the offers of each turn.

use chrono::{DateTime, NaiveDate, Utc};
use knowhow_domain::graph::Offers;
use knowhow_domain::{Result, SkillId};
use uuid::Uuid;

use crate::learning::examples;
use crate::vault::value::uuids;
use crate::vault::{read, row, statement};
use crate::{Database, Principal, WriteTx};

row! { struct OfferCountRow { counted: bool, times_used: i64 } }

// A report counts once for each skill and turn; `failed_lessons` stores the counted turns. Every report without a
// turn counts.
statement! {
    write CountInapplicable { skill: Uuid, session: Option<String>, now: DateTime<Utc> } -> OfferCountRow,
    "-- offer_counts.count_inapplicable
    with counted as (
        insert into skill_offers as f (tenant_id, user_id, day, skill_id, inapplicable)
        select $1, $2, ($5::timestamptz at time zone 'UTC')::date, $3, 1
        where not exists (
            select from sessions s
            join failed_lessons l on l.tenant_id = $1 and l.user_id = $2 and l.session_id = s.session_id and l.turn = s.turns
                and l.skill_id = $3 and l.inapplicable
            where s.tenant_id = $1 and s.user_id = $2 and s.session_id = app.find_session($4))
        on conflict (tenant_id, user_id, day, skill_id) do update set inapplicable = f.inapplicable + 1
        returning f.inapplicable
    )
    select exists (select from counted) as counted,
           coalesce((select u.times_used from skill_usage u
                     where u.tenant_id = $1 and u.user_id = $2 and u.skill_id = $3), 0) as times_used"
}

/// Counts a report that a skill did not apply, once for the current turn of the caller's session. The skill learns no
/// example in that turn. Returns whether the report was counted, and the skill's number of uses.
///
/// # Errors
/// `Unavailable`.
pub async fn count_inapplicable(
    tx: &mut WriteTx,
    skill: SkillId,
    session: Option<&str>,
    now: DateTime<Utc>,
) -> Result<(bool, i64)> {
    tx.lock_user();
    let own = session.map(str::to_owned);
    let counted = tx.write(CountInapplicable { skill: skill.0, session: own, now }).await?.pop();
    if let Some(session) = session {
        examples::mark_inapplicable(tx, skill, session);
    }
    Ok(counted.map_or((false, 0), |row| (row.counted, row.times_used)))
}

row! { struct OffersRow { skill_id: Uuid, offered: i64, ignored: i64, inapplicable: i64 } }

statement! {
    read ListOffers { skills: Vec<Uuid>, since: NaiveDate } -> OffersRow,
    "-- offer_counts.list
    select f.skill_id, sum(f.offered)::bigint as offered, sum(f.ignored)::bigint as ignored,
           sum(f.inapplicable)::bigint as inapplicable
    from skill_offers f
    where f.tenant_id = $1 and f.user_id = $2 and f.day >= $4 and f.skill_id = any ($3)
    group by f.skill_id"
}

/// Returns the counts for some skills since a day. Skills that were never offered are left out.
///
/// # Errors
/// `Unavailable`.
pub async fn list(
    db: &Database,
    principal: &Principal,
    skills: &[SkillId],
    since: NaiveDate,
) -> Result<Vec<(SkillId, Offers)>> {
    let rows = read(db, principal, ListOffers { skills: uuids(skills.iter().copied()), since }).await?;
    let offers = |row: OffersRow| {
        let OffersRow { skill_id, offered, ignored, inapplicable } = row;
        (SkillId(skill_id), Offers { offered, ignored, inapplicable })
    };
    Ok(rows.into_iter().map(offers).collect())
}
