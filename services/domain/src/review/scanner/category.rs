//! Attack categories, and advice for a text that looks like an attack.

use serde::{Deserialize, Serialize};
use strum::{AsRefStr, Display, EnumIter, EnumString};

/// Category of the attack that a finding indicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, AsRefStr, Display, EnumString, EnumIter)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
#[expect(missing_docs, reason = "the texts of `change` describe each")]
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
    UnaskedCommand,
    Unreadable,
}

impl Category {
    /// Returns advice for the author. The advice names no rule, so that an attacker cannot reword a text to avoid the
    /// rule.
    pub fn change(self) -> &'static str {
        match self {
            Self::AgentConfig => {
                "let the user change an agent's settings and memory: describe the change, write no file"
            }
            Self::ApprovalBypass => "leave decisions with the user: remove steps that skip or disable confirmations",
            Self::AuthorityLaundering => "give the steps and the reasons, without claims of prior approval",
            Self::Beacon => "remove images with data in their URL",
            Self::Concealment => "remove steps that hide anything from the user; describe each step openly",
            Self::Destruction => "name the exact targets of a deletion, and ask before it",
            Self::DownloadAndRun => {
                "install from a package registry or a release with a checksum, not by running a download"
            }
            Self::DropHost => "use the service's own host instead of a paste, tunnel, shortener or look-alike",
            Self::EncodedExecution => "write commands as plain text instead of decoding and running them",
            Self::Exfiltration => "send no secrets or private data; name the service and the exact data it receives",
            Self::FakePrerequisite => {
                "name prerequisites by package and registry, without locked archives or pasted commands"
            }
            Self::FinancialAction => "let the user name amount and recipient of each payment; do not name an account",
            Self::Format => "write plain UTF-8 text without control characters",
            Self::HiddenHtml => "write instructions for the agent as visible text, or remove them",
            Self::HiddenText => "remove invisible and look-alike characters",
            Self::InstructionOverride => "describe the steps without asking the reader to disregard other instructions",
            Self::Miner => "remove cryptocurrency mining",
            Self::Persistence => "remove anything that starts automatically or gives others access",
            Self::PersonalData => "replace personal numbers by placeholders",
            Self::Privilege => "do not change the machine's protections",
            Self::RemoteInstructions => "put the instructions into the skill instead of fetching them",
            Self::ReverseShell => "remove commands that give others a shell",
            Self::RoleImpersonation => "write as the skill's author, not as the system or another role",
            Self::Secret => "replace the key or password by the name of an environment variable, and revoke it",
            Self::SecretAccess => "let the user provide credentials; do not read credential stores",
            Self::SupplyChain => "install from the usual package registries",
            Self::TriggerHijack => "describe when the skill helps; do not give it priority over others",
            Self::UnaskedCommand => {
                "describe commands as steps; remove hooks, servers and commands that a host runs without asking"
            }
            Self::Unreadable => "provide the file as plain text, or omit it",
        }
    }
}
