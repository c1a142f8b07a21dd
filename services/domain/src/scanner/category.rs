//! Kinds of attacks, and what to do about a text that looks like one.

use serde::{Deserialize, Serialize};
use strum::{AsRefStr, Display, EnumIter, EnumString};

/// What a finding is a sign of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, AsRefStr, Display, EnumString, EnumIter)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
#[expect(missing_docs, reason = "the words of `change` say what each is")]
pub enum Category {
    AgentConfig,
    ApprovalBypass,
    AuthorityLaundering,
    Beacon,
    Concealment,
    Destruction,
    DownloadAndRun,
    DropHost,
    EncodedExecution,
    Exfiltration,
    FakePrerequisite,
    FinancialAction,
    Format,
    HiddenHtml,
    HiddenText,
    InstructionOverride,
    Miner,
    Persistence,
    PersonalData,
    Privilege,
    RemoteInstructions,
    ReverseShell,
    RoleImpersonation,
    Secret,
    SecretAccess,
    SupplyChain,
    TriggerHijack,
    Unreadable,
}

impl Category {
    /// What whoever writes the skill should change, in words that name no rule.
    pub fn change(self) -> &'static str {
        match self {
            Self::AgentConfig => {
                "let the user decide what stays in an agent's settings and memory: describe it, write no file"
            }
            Self::ApprovalBypass => "leave decisions with the user: take out what skips or switches off questions",
            Self::AuthorityLaundering => "say what to do and why, without claims that somebody has allowed it already",
            Self::Beacon => "take out images whose address carries data",
            Self::Concealment => "take out what keeps something from the user; say what is done openly",
            Self::Destruction => "name exactly what may be deleted, and ask before that",
            Self::DownloadAndRun => {
                "install from a package registry or a release with a checksum, not by running a download"
            }
            Self::DropHost => "name the service's own host instead of a paste, tunnel, shortener or look-alike",
            Self::EncodedExecution => "write commands in the open instead of decoding and running them",
            Self::Exfiltration => "send no secrets or private data; name the service and what exactly it receives",
            Self::FakePrerequisite => {
                "name prerequisites by package and registry, without locked archives or pasted commands"
            }
            Self::FinancialAction => {
                "let the user name amount and recipient of each payment; put no account into the text"
            }
            Self::Format => "write plain UTF-8 text without control characters",
            Self::HiddenHtml => "write in the open what is meant for the agent, or take it out",
            Self::HiddenText => "write without invisible and look-alike characters",
            Self::InstructionOverride => "say what to do instead of telling the reader to disregard other instructions",
            Self::Miner => "take out what mines cryptocurrency",
            Self::Persistence => "leave nothing behind that starts by itself or lets somebody in",
            Self::PersonalData => "use placeholders in place of a person's numbers",
            Self::Privilege => "leave the machine's protections as they are",
            Self::RemoteInstructions => "put the instructions into the skill instead of having them fetched",
            Self::ReverseShell => "take out what gives others a shell",
            Self::RoleImpersonation => "write as the skill's author, not as the system or another role",
            Self::Secret => "replace the key or password by the name of an environment variable, and revoke it",
            Self::SecretAccess => "let the user provide credentials; read no store of them",
            Self::SupplyChain => "install from the usual package registries",
            Self::TriggerHijack => "say when the skill helps; do not put it before all others",
            Self::Unreadable => "give the file as plain text, or leave it out",
        }
    }
}
