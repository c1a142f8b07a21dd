//! The frame of all pages: navigation, the user of the session, and the requests of the REST API.

use knowhow_domain::Scope;
use knowhow_ops::Principal;

use crate::api_call::ApiCall;
use crate::link;
use crate::shown::{Block, Line};
use crate::visit::Visit;

/// An entry of the navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    Overview,
    Skills,
    Recall,
    Graph,
    Analytics,
    Memories,
    Soul,
    Conversations,
    Sessions,
    Snapshot,
    Dreams,
    Review,
    Users,
    Keys,
    Webhook,
    Archive,
    Audit,
    Jobs,
}

impl Section {
    /// Returns the heading and the path.
    fn shown(self) -> (&'static str, &'static str) {
        match self {
            Self::Overview => ("Overview", "/console"),
            Self::Skills => ("Skills", "/console/skills"),
            Self::Recall => ("Recall", "/console/recall"),
            Self::Graph => ("Graph", "/console/graph"),
            Self::Analytics => ("Analytics", "/console/analytics"),
            Self::Memories => ("Memories", "/console/memories"),
            Self::Soul => ("Soul", "/console/soul"),
            Self::Conversations => ("Conversations", "/console/conversations"),
            Self::Sessions => ("Sessions", "/console/sessions"),
            Self::Snapshot => ("Snapshot", "/console/snapshot"),
            Self::Dreams => ("Dreams", "/console/dreams"),
            Self::Review => ("Review", "/console/review"),
            Self::Users => ("Users", "/console/users"),
            Self::Keys => ("API keys", "/console/keys"),
            Self::Webhook => ("Webhook", "/console/webhook"),
            Self::Archive => ("Archive", "/console/archive"),
            Self::Audit => ("Audit log", "/console/audit"),
            Self::Jobs => ("Jobs", "/console/jobs"),
        }
    }
}

const OWN: [Section; 12] = [
    Section::Overview,
    Section::Skills,
    Section::Recall,
    Section::Graph,
    Section::Analytics,
    Section::Memories,
    Section::Soul,
    Section::Conversations,
    Section::Sessions,
    Section::Snapshot,
    Section::Dreams,
    Section::Review,
];
const OF_TENANT: [Section; 6] =
    [Section::Users, Section::Keys, Section::Webhook, Section::Archive, Section::Audit, Section::Jobs];

/// A link of the navigation.
pub struct NavigationLink {
    pub name: &'static str,
    pub path: &'static str,
    pub is_current: bool,
}

/// The frame of one page.
pub struct Layout {
    pub title: Line,
    /// Heading of the current section, for the menu on a narrow screen.
    pub section: &'static str,
    pub tenant: Line,
    pub user: Line,
    /// The user that the admin views. Texts of that user cannot be changed.
    pub viewed: Option<Line>,
    /// The page of the viewed user.
    pub viewed_page: String,
    pub is_admin: bool,
    pub own: Vec<NavigationLink>,
    pub of_tenant: Vec<NavigationLink>,
    /// Token of the session's forms.
    pub form: String,
    /// Result of the last action, if the page is shown after one.
    pub done: Option<&'static str>,
    /// Requests of the REST API with the same effect, as commands.
    pub calls: Vec<Block>,
}

impl Layout {
    /// Creates the frame of a page in a section.
    pub fn new(visit: &Visit, section: Section, title: impl Into<Line>) -> Self {
        let principal = &visit.ctx.principal;
        let is_admin = principal.require_admin().is_ok();
        let links = |sections: &[Section]| {
            let link = |of: &Section| {
                let (name, path) = of.shown();
                NavigationLink { name, path, is_current: *of == section }
            };
            sections.iter().filter(|of| is_open(principal, **of)).map(link).collect()
        };
        Self {
            title: title.into(),
            section: section.shown().0,
            tenant: principal.tenant_slug().into(),
            user: visit.visitor.as_str().into(),
            viewed: visit.viewed.as_ref().map(|(_, name)| name.into()),
            viewed_page: visit.viewed.as_ref().map(|(_, name)| link::user(name)).unwrap_or_default(),
            is_admin,
            own: links(&OWN),
            of_tenant: if is_admin { links(&OF_TENANT) } else { Vec::new() },
            form: visit.secret.form_token(),
            done: visit.done,
            calls: Vec::new(),
        }
    }

    /// Adds requests of the REST API with the same effect.
    pub fn with_calls(mut self, visit: &Visit, calls: impl IntoIterator<Item = ApiCall>) -> Self {
        let principal = &visit.ctx.principal;
        if let Some((user, reason)) = visit.viewed() {
            // The API views a user with a token alone: a key would act for that user.
            if principal.is_backend() {
                return self;
            }
            let views =
                calls.into_iter().filter(ApiCall::is_get).map(|call| call.with_header("Knowhow-Reason", reason));
            self.calls.extend(views.map(|call| Block(call.command(Some(user)))));
            return self;
        }
        let key_user = principal.external_id().filter(|_| principal.is_backend());
        self.calls.extend(calls.into_iter().map(|call| Block(call.command(key_user))));
        self
    }
}

/// Returns whether the caller's scopes open a section.
fn is_open(principal: &Principal, section: Section) -> bool {
    let scope = match section {
        Section::Overview => return true,
        Section::Skills | Section::Recall | Section::Graph | Section::Analytics | Section::Dreams | Section::Review => {
            Scope::SkillsRead
        }
        Section::Memories | Section::Soul => Scope::Memories,
        Section::Conversations | Section::Sessions | Section::Snapshot => Scope::Sessions,
        Section::Users | Section::Keys | Section::Webhook | Section::Archive | Section::Audit | Section::Jobs => {
            Scope::Admin
        }
    };
    principal.require(scope).is_ok()
}
