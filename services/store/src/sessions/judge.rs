//! Data for the chat model that judges recalled skills: descriptions of candidates, and the tokens used per day.

use chrono::{DateTime, Utc};
use knowhow_domain::{Result, SkillId};
use uuid::Uuid;

use crate::vault::value::uuids;
use crate::vault::{read, row, statement, write};
use crate::{Database, Principal};

row! { struct DescribedRow { skill_id: Uuid, description: String } }

statement! {
    read ListDescriptions { skills: Vec<Uuid> } -> DescribedRow,
    "-- judge.list_descriptions
    select s.skill_id, coalesce(s.made_description, s.description) as description
    from skill_states s
    where s.tenant_id = $1 and s.user_id = $2 and s.skill_id = any ($3)"
}

/// Lists the descriptions of skills, unordered, without deleted skills.
pub async fn list_descriptions(
    db: &Database,
    principal: &Principal,
    skills: &[SkillId],
) -> Result<Vec<(SkillId, String)>> {
    let rows = read(db, principal, ListDescriptions { skills: uuids(skills.iter().copied()) }).await?;
    Ok(rows.into_iter().map(|row| (SkillId(row.skill_id), row.description)).collect())
}

row! { struct JudgeTokensRow { tokens: i64 } }

// The row of the day serializes concurrent requests, so that each sees the tokens that the others have reserved.
statement! {
    count ReserveTokens { tokens: i64, most: i64, now: DateTime<Utc> } -> JudgeTokensRow,
    "-- judge.reserve_tokens
    insert into judge_usage as u (tenant_id, user_id, day, questions, tokens)
    select $1, $2, ($5::timestamptz at time zone 'UTC')::date, 1, $3::bigint where $3 <= $4::bigint
    on conflict (tenant_id, user_id, day) do update
    set questions = u.questions + 1, tokens = u.tokens + excluded.tokens
    where u.tokens + excluded.tokens <= $4
    returning u.tokens"
}

/// Reserves tokens for a request to the judge and returns the user's total for the day. Returns `None` if the total
/// would exceed the tenant's `judge_tokens_per_day`.
pub async fn reserve_tokens(
    db: &Database,
    principal: &Principal,
    tokens: i64,
    now: DateTime<Utc>,
) -> Result<Option<i64>> {
    let most = i64::from(principal.settings().judge_tokens_per_day);
    Ok(write(db, principal, ReserveTokens { tokens, most, now }).await?.pop().map(|row| row.tokens))
}

statement! {
    count SettleTokens { more: i64, now: DateTime<Utc> } -> JudgeTokensRow,
    "-- judge.settle_tokens
    update judge_usage u set tokens = greatest(u.tokens + $3, 0)
    where u.tenant_id = $1 and u.user_id = $2 and u.day = ($4::timestamptz at time zone 'UTC')::date
    returning u.tokens"
}

/// Corrects the tokens reserved at `now` by `more`, which may be negative. Returns the user's total for the day; `None`
/// if no tokens were reserved on that day.
pub async fn settle_tokens(db: &Database, principal: &Principal, more: i64, now: DateTime<Utc>) -> Result<Option<i64>> {
    Ok(write(db, principal, SettleTokens { more, now }).await?.pop().map(|row| row.tokens))
}
