//! Endpoints of skills, `/v1/skills`.

mod change;
mod discover;
mod examples;
mod exchange;
mod history;
mod read;
mod relations;
mod resources;

pub(super) use change::{delete_skill, patch_skill, put_fields, report_use, save_skill};
pub(super) use discover::{match_skills, suggest_skills};
pub(super) use examples::{delete_example, delete_examples, list_examples};
pub(super) use exchange::{check_import, export_skills, import_skills, list_digests};
pub(super) use history::{diff_versions, get_findings, get_version, list_versions, rollback_skill};
pub(super) use read::{list_skills, load_skill, read_skill_md};
pub(super) use relations::{declare_relation, get_knowledge, list_relations, put_importance, remove_relation};
pub(super) use resources::{delete_resource, get_resource, put_resource};
