//! Discovery words made by enrichment, and the number of attempts.

use knowhow_domain::jobs::job::task;
use knowhow_domain::learning::enrich::Discovery;
use knowhow_domain::{MadeBy, Result, SkillId};
use uuid::Uuid;

use crate::vault::enum_text::Word;
use crate::vault::{read, row, statement};
use crate::{Database, Principal, WriteTx};

/// Enrichment state of a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Enriching {
    /// Number of failed attempts.
    pub tries: i32,
    /// Origin of the existing words, or of the decision that no words are needed. `None` before enrichment.
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

// Changed words are embedded again, like a changed text.
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

/// The text of a skill that enrichment has processed.
#[derive(Debug, Clone, Copy)]
pub struct EnrichedText<'a> {
    pub skill: SkillId,
    /// SHA-256 of its SKILL.md. If the skill's text has changed since, the write is skipped.
    pub document: &'a [u8],
}

/// Returns the enrichment state of a skill. Returns `None` if the skill needs no words, does not exist, or has a
/// shared text.
pub async fn find_enriching(db: &Database, principal: &Principal, skill: SkillId) -> Result<Option<Enriching>> {
    let found = read(db, principal, FindEnriching { skill: skill.0 }).await?.pop();
    Ok(found.map(|row| Enriching { tries: row.enrich_tries, made_by: row.made_by.map(MadeBy::from) }))
}

/// Counts one more attempt for the author's current description and triggers, together with COMMIT.
pub fn note_enrich_try(tx: &mut WriteTx, of: EnrichedText<'_>) {
    tx.lock_user();
    tx.send_ahead(NoteEnrichTry { skill: of.skill.0, document: of.document.to_vec() });
}

/// Stores discovery words for a skill and invalidates its vector. Has no effect if the skill's text has changed since
/// or the skill was deleted. The vector from the model `replaced_by` stays until a job replaces it.
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
