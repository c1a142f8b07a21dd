//! The domain types of Knowhow: ids, names, SKILL.md, the patch engine, rules and errors. No I/O.

pub mod graph;
pub mod jobs;
pub mod kernel;
pub mod learning;
pub mod recall;
pub mod review;
pub mod sessions;
pub mod skills;
pub mod tenants;
pub mod text;

pub use jobs::job::{Job, JobQueue, JobState};
pub use jobs::process::{Process, ProcessKind};
pub use kernel::clock::{Clock, SystemClock};
pub use kernel::error::{Error, FieldError, Passage, Result};
pub use kernel::ids::{
    ArchiveId, AuditId, DreamId, EntityId, ErasureId, ExampleId, IssuerId, JobId, KeyId, MemoryId, MessageId,
    ProcessId, ReflectionId, SessionId, SkillId, SnapshotId, SubmissionId, TenantId, UserId, first_id_of, new_id,
};
pub use kernel::limits::Limits;
pub use kernel::secret::Secret;
pub use learning::directive::{Directive, DirectiveName, DirectiveVersion};
pub use learning::example::Example;
pub use learning::feedback::{FeedbackKind, Outcome};
pub use learning::reflection::{Cadence, Reflection, ReflectionActions, ReflectionState, ReflectionText};
pub use review::submission::{Check, CheckOutcome, CheckStep, Submission, SubmissionKind, SubmissionState};
pub use sessions::channel::Channel;
pub use sessions::conversation::{Conversation, ConversationSummary, LastMessage, MadeBy};
pub use sessions::memory::{Memory, MemoryKind, MemoryVersion};
pub use sessions::message::{Message, Speaker, ToolCall, check_message};
pub use sessions::prompt::{SnapshotForm, Tools};
pub use sessions::session::Session;
pub use sessions::soul::Soul;
pub use skills::document::{Attributes, FieldEdits, Fields, MendedText, Role, ServedDocument, SkillDocument};
pub use skills::index::{INDEX_BUDGET, IndexLine, SkillIndex, gist, render_index};
pub use skills::library::{LibrarySkill, LibraryUse, LibraryUser, LibraryUses};
pub use skills::manifest::ResourceEntry;
pub use skills::name::SkillName;
pub use skills::resource::ResourcePath;
pub use skills::skill::{ArchivedSkill, IndexItem, Source, SummaryBy};
pub use skills::version::{ChangeKind, Version};
pub use tenants::audit::AuditEntry;
pub use tenants::erasure::Erasure;
pub use tenants::issuer::{Algorithm, Issuer};
pub use tenants::key::ApiKey;
pub use tenants::scope::{Scope, Scopes};
pub use tenants::settings::{SettingsPatch, StoredSettings, TenantSettings};
pub use tenants::tenant::{IfMatch, Stored, Tenant, TenantDetail};
pub use tenants::user::User;
pub use tenants::webhook::{Notice, Webhook};
pub use text::headline::headline;
pub use text::sanitize::inert_line;
