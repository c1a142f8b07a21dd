//! Operations on skills: save, patch, load, list, search, import, export, compare, roll back and delete.

pub mod archive;
mod check_import;
pub(crate) mod compare;
pub(crate) mod delete;
mod digests;
pub(crate) mod enrich;
mod export;
pub(crate) mod export_plan;
mod export_query;
mod fields;
pub mod follow_up;
mod import;
mod import_batch;
mod import_report;
mod import_source;
pub(crate) mod library;
mod list;
mod list_query;
mod load;
mod patch;
mod prompt;
mod publish;
mod ranked;
mod resources;
mod save;
mod similar;
pub mod starters;
mod sync_starters;
mod unpack;
mod use_reports;
mod versions;
pub(crate) mod view;

pub use check_import::{CheckImport, CheckedImport, CheckedSkill, MOST_CHECKED, SkillDigest, SkillState, check_import};
pub use compare::{Compared, Diff, diff_versions};
pub use delete::{DeleteSkill, Deleted, NAMES, delete_skill};
pub use digests::{DigestPage, ListDigests, ListedDigest, list_digests};
pub(crate) use export::send_all;
pub use export::{Content, Exported, export_skills};
pub use export_plan::folder_of;
pub use export_query::{ExportQuery, Format};
pub(crate) use fields::nullable;
pub use fields::{PutFields, put_fields};
pub use import::{ImportSkills, import_skills};
pub use import_report::{ImportOutcome, ImportReport, Imported, LeftOutFile};
pub use import_source::ImportSource;
pub use list::list_skills;
pub use list_query::{LeastFindings, ListSkills};
pub use load::{File, LoadSkill, SkillAnswer, load_skill, read_skill_md, view_skill};
pub use patch::{PatchSkill, Patched, patch_skill};
pub use prompt::index_block;
pub use publish::{
    Child, FileEntry, PublishedFile, ReadFolder, RenderedEntries, SkillEntry, get_entry, list_documents, list_entries,
    read_file, read_folder,
};
pub use resources::{DeleteResource, GetResource, PutResource, delete_resource, get_resource, put_resource};
pub(crate) use save::Save;
pub use save::{SaveSkill, Saved, save_skill};
pub use sync_starters::sync_starters;
pub use unpack::{ENCLOSED, HIDDEN, Upload};
pub use use_reports::{Counted, ReportUse, report_use};
pub use versions::{GetVersion, ListVersions, Rollback, VersionDetail, get_version, list_versions, rollback_skill};
pub use view::{LoadedSkill, SavedSkill, Similar, Skill};
