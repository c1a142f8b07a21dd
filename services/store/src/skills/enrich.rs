//! What enrichment makes of a skill, and how often it was tried.

use knowhow_domain::enrich::Discovery;
use knowhow_domain::job::task;
use knowhow_domain::{MadeBy, Result, SkillId};
use uuid::Uuid;

use crate::vault::word::Word;
use crate::vault::{read, row, statement};
use crate::{Database, Principal, WriteTx};

/// How far the enrichment of a skill is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Enriching {
    /// How often it was tried in vain.
    pub tries: i32,
    /// Who made what there is, or found nothing to make.
    pub made_by: Option<MadeBy>,
}

row! { struct TriesRow { enrich_tries: i32, made_by: Option<Word<MadeBy>> } }

statement! {
    read FindEnriching { skill: Uuid } -> TriesRow,
    "-- skills.find_enriching
    select s.enrich_tries, s.made_by from skills s
    where s.tenant_id = $1 and s.user_id = $2 and s.skill_id = $3 and s.lacks > 0"
}

statement! {
    write NoteEnrichTry { skill: Uuid, document: Vec<u8> } -> (),
    "-- skills.note_enrich_try
    update skills s
    set enrich_tries = case when s.enrich_of = k.key then s.enrich_tries + 1 else 1 end, enrich_of = k.key
    from (select sha256(convert_to(jsonb_build_array(o.description, o.triggers)::text, 'UTF8')) as key
          from skills o where o.tenant_id = $1 and o.user_id = $2 and o.skill_id = $3) k
    where s.tenant_id = $1 and s.user_id = $2 and s.skill_id = $3 and s.document_digest = $4"
}

// Other words are embedded anew, as after a change of the text.
statement! {
    write FollowDiscovery { skill: Uuid, tasks: Vec<String>, kept_model: Option<String> } -> (),
    "-- skills.follow_discovery
    select app.follow_text(s.skill_id, null, $4, true, null, true, $5)
    from skills s where s.tenant_id = $1 and s.user_id = $2 and s.skill_id = $3"
}

statement! {
    write PutDiscovery {
        skill: Uuid, document: Vec<u8>, description: Option<String>, triggers: Vec<String>, made_by: &'static str,
    } -> (),
    "-- skills.put_discovery
    with made as (
        update skills s
        set made_description = $5, made_triggers = $6, made_by = $7, enriched = $5::text is not null or $6::text[] <> '{}'
        where s.tenant_id = $1 and s.user_id = $2 and s.skill_id = $3 and s.document_digest = $4 and s.lacks > 0
        returning s.skill_id
    )
    update user_catalogs c set revision = c.revision + 1 from made
    where c.tenant_id = $1 and c.user_id = $2"
}

/// The text of a skill that is enriched.
#[derive(Debug, Clone, Copy)]
pub struct EnrichedText<'a> {
    pub skill: SkillId,
    /// SHA-256 of its SKILL.md. Of another one nothing is noted or kept.
    pub document: &'a [u8],
}

/// How far the enrichment of a skill is; `None` where it lacks nothing, is gone, or has the text of all users.
///
/// # Errors
/// `Unavailable`.
pub async fn find_enriching(db: &Database, principal: &Principal, skill: SkillId) -> Result<Option<Enriching>> {
    let found = read(db, principal, FindEnriching { skill: skill.0 }).await?.pop();
    Ok(found.map(|row| Enriching { tries: row.enrich_tries, made_by: row.made_by.map(MadeBy::from) }))
}

/// Counts one more try for the author's description and triggers, together with COMMIT.
pub fn note_enrich_try(tx: &mut WriteTx, of: EnrichedText<'_>) {
    tx.lock_user();
    tx.send_ahead(NoteEnrichTry { skill: of.skill.0, document: of.document.to_vec() });
}

/// Keeps words for a skill to be found by, and has its vector made anew. Where the skill has another text by now,
/// or is gone, nothing is kept. `replaced_by` is the model whose vector stays until the job has replaced it.
///
/// # Errors
/// `Unavailable`.
pub async fn put_discovery(
    mut tx: WriteTx,
    of: EnrichedText<'_>,
    made: &Discovery,
    replaced_by: Option<&str>,
) -> Result<()> {
    tx.lock_user();
    let skill = of.skill.0;
    tx.send_ahead(PutDiscovery {
        skill,
        document: of.document.to_vec(),
        description: made.description.clone(),
        triggers: made.triggers.clone(),
        made_by: made.made_by.as_str(),
    });
    let embeds = replaced_by.map(|_| task::EMBED_SKILL.to_owned());
    tx.send_ahead(FollowDiscovery { skill, tasks: Vec::from_iter(embeds), kept_model: replaced_by.map(str::to_owned) });
    tx.commit().await
}
