//! What can be done with skills.

mod apply;
mod delete;
mod export;
mod fields;
mod import;
mod list;
mod load;
pub(crate) mod lookup;
mod patch;
mod prompt;
mod publish;
mod resources;
mod save;
mod sync_starters;
mod used;
mod versions;
mod view;

pub use delete::{DeleteSkill, Deleted, delete_skill};
pub use export::{ExportQuery, Exported, Format, export_skills};
pub use fields::{PutFields, put_fields};
pub use import::{ImportOutcome, ImportReport, Imported, Upload, import_skills};
pub use list::{ListSkills, list_skills};
pub use load::{File, load_skill, read_skill_md};
pub use patch::{PatchSkill, Patched, patch_skill};
pub use prompt::index_block;
pub use publish::{
    Child, FileEntry, PublishedFile, SkillEntry, get_entry, list_documents, list_entries, read_file, read_folder,
};
pub use resources::{delete_resource, get_resource, put_resource};
pub use save::{SaveSkill, Saved, save_skill};
pub use sync_starters::sync_starters;
pub use used::{Counted, Outcome, ReportUse, report_use};
pub use versions::{Diff, Rollback, Version, VersionDetail, diff_versions, get_version, list_versions, rollback_skill};
pub use view::{IndexItem, LoadedSkill, SavedSkill, Similar, Skill, SummaryBy};
