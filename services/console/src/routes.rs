//! The routes of the console. A test walks all of them.

use actix_web::middleware::from_fn;
use actix_web::web::{self, Data, PathConfig, QueryConfig, ServiceConfig};
use knowhow_domain::Error;

use crate::failure::Failure;
use crate::pages::tenant::{archive, audit, jobs, keys, user, users, webhook};
use crate::pages::{
    analytics, conversations, dreams, fallback, graph, login, memories, overview, recall, review, sessions, skill,
    skills, snapshot, soul, static_files, turn,
};
use crate::{Console, respond};

/// Path of the console.
pub const PATH: &str = "/console";

/// Callers that a route is open to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Everyone, also without a session.
    Public,
    /// Users of a tenant, for their own data.
    User,
    /// Admins of a tenant.
    Admin,
}

/// A method and path of the console.
#[derive(Debug, Clone, Copy)]
pub struct Route {
    pub method: &'static str,
    /// Path below [`PATH`], with the names of its parameters.
    pub path: &'static str,
    pub access: Access,
}

macro_rules! routes {
    ($($method:ident $path:literal $access:ident => $handler:expr,)*) => {
        /// All routes.
        pub const ROUTES: &[Route] = &[$(Route { method: stringify!($method), path: $path, access: Access::$access }),*];

        fn register(scope: actix_web::Scope) -> actix_web::Scope {
            scope$(.route($path, routes!(@method $method).to($handler)))*
        }
    };
    (@method GET) => { web::get() };
    (@method POST) => { web::post() };
}

routes! {
    GET "" User => overview::show,
    GET "/login" Public => login::show,
    POST "/login" Public => login::log_in,
    POST "/logout" User => login::log_out,
    GET "/static/{file}" Public => static_files::answer,
    GET "/skills" User => skills::list,
    GET "/skills/{skill}" User => skill::text::show,
    POST "/skills/{skill}" User => skill::text::save,
    GET "/skills/{skill}/resources" User => skill::resources::show,
    GET "/skills/{skill}/file" User => skill::resources::download,
    GET "/skills/{skill}/knowledge" User => skill::knowledge::show,
    POST "/skills/{skill}/relate" User => skill::knowledge::relate,
    POST "/skills/{skill}/unrelate" User => skill::knowledge::unrelate,
    GET "/skills/{skill}/versions" User => skill::versions::show,
    GET "/skills/{skill}/diff" User => skill::versions::compare,
    POST "/skills/{skill}/rollback" User => skill::versions::roll_back,
    GET "/skills/{skill}/fields" User => skill::fields::show,
    POST "/skills/{skill}/fields" User => skill::fields::save,
    GET "/recall" User => recall::show,
    POST "/recall" User => recall::search,
    GET "/graph" User => graph::show,
    GET "/analytics" User => analytics::show,
    GET "/memories" User => memories::list,
    GET "/memories/{memory}" User => memories::show,
    POST "/memories/{memory}" User => memories::correct,
    POST "/memories/{memory}/forget" User => memories::forget,
    GET "/soul" User => soul::show,
    POST "/soul" User => soul::save,
    GET "/conversations" User => conversations::list,
    GET "/sessions" User => sessions::list,
    GET "/sessions/{session}" User => sessions::show,
    GET "/sessions/{session}/turns/{turn}" User => turn::show,
    GET "/snapshot" User => snapshot::show,
    GET "/dreams" User => dreams::list,
    POST "/dreams" User => dreams::start,
    GET "/dreams/{dream}" User => dreams::show,
    POST "/dreams/{dream}/apply" User => dreams::apply,
    POST "/dreams/{dream}/reject" User => dreams::reject,
    POST "/dreams/{dream}/undo" User => dreams::undo,
    GET "/review" User => review::list,
    GET "/review/{submission}" User => review::submission::show,
    POST "/review/reason" Admin => review::reason::state,
    POST "/review/{submission}/approve" User => review::submission::approve,
    POST "/review/{submission}/reject" User => review::submission::reject,
    GET "/users" Admin => users::list,
    GET "/users/{user}" Admin => user::show,
    POST "/users/{user}/view" Admin => user::view,
    POST "/users/{user}/end-session" Admin => user::end_session,
    POST "/users/{user}/suspend" Admin => user::suspend,
    POST "/users/{user}/resume" Admin => user::resume,
    POST "/users/{user}/hold" Admin => user::hold,
    POST "/users/{user}/release" Admin => user::release,
    POST "/users/{user}/export" Admin => user::export,
    POST "/users/{user}/erase" Admin => user::erase,
    GET "/keys" Admin => keys::list,
    POST "/keys" Admin => keys::create,
    POST "/keys/{key}/rotate" Admin => keys::rotate,
    POST "/keys/{key}/revoke" Admin => keys::revoke,
    GET "/webhook" Admin => webhook::show,
    POST "/webhook" Admin => webhook::save,
    POST "/webhook/test" Admin => webhook::test,
    POST "/webhook/remove" Admin => webhook::remove,
    GET "/archive" Admin => archive::list,
    POST "/archive/{entry}/restore" Admin => archive::restore,
    GET "/audit" Admin => audit::list,
    GET "/jobs" Admin => jobs::list,
    POST "/jobs/{job}/retry" Admin => jobs::retry,
    POST "/jobs/{job}/discard" Admin => jobs::discard,
}

/// Registers the console.
pub fn configure(config: &mut ServiceConfig, console: &Data<Console>) {
    let no_page = |_, _: &_| Failure::from(Error::not_found("page")).into();
    let unreadable = |error, _: &_| {
        Failure::from(Error::Malformed(format!("the address of this page cannot be read: {error}"))).into()
    };
    let scope = web::scope(PATH)
        .app_data(console.clone())
        .app_data(PathConfig::default().error_handler(no_page))
        .app_data(QueryConfig::default().error_handler(unreadable));
    let scope = register(scope);
    config.service(scope.default_service(web::to(fallback::answer)).wrap(from_fn(respond::protect)));
}

/// Returns the path of the page that a form belongs to: the nearest path at or above the form's that is a page.
/// `pattern` is the path of the form's route.
pub fn page_of<'a>(pattern: &str, path: &'a str) -> &'a str {
    let (mut pattern, mut path) = (pattern, path);
    let is_page = |pattern: &str| {
        let below = pattern.strip_prefix(PATH);
        below.is_none_or(|below| ROUTES.iter().any(|route| route.method == "GET" && route.path == below))
    };
    while !is_page(pattern) {
        (pattern, path) = (above(pattern), above(path));
    }
    path
}

/// Returns a path without its last segment.
fn above(path: &str) -> &str {
    path.rsplit_once('/').map_or(PATH, |(above, _)| above)
}

#[cfg(test)]
mod tests {
    use super::page_of;

    #[test]
    fn each_form_belongs_to_a_page() {
        for (pattern, path, page) in [
            ("/console/skills/{skill}", "/console/skills/retry", "/console/skills/retry"),
            ("/console/skills/{skill}/rollback", "/console/skills/plan/rollback", "/console/skills/plan"),
            ("/console/skills/{skill}/fields", "/console/skills/plan/fields", "/console/skills/plan/fields"),
            ("/console/jobs/{job}/retry", "/console/jobs/1/retry", "/console/jobs"),
            ("/console/review/reason", "/console/review/reason", "/console/review"),
            ("/console/users/suspend", "/console/users/suspend", "/console/users"),
            ("/console/logout", "/console/logout", "/console"),
        ] {
            assert_eq!(page_of(pattern, path), page);
        }
    }
}
