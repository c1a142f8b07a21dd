//! Registers all endpoints. A handler extracts its input, calls one operation and wraps the result.
//!
//! The router compares a request with each path in turn. Paths with a common prefix therefore form a scope, which
//! other requests skip at once. In a scope, the macro of a handler names only the rest of the path.

mod graph;
mod learning;
mod platform;
mod review;
mod sessions;
mod skills;
mod tenants;

use utoipa_actix_web::scope;
use utoipa_actix_web::service_config::ServiceConfig;

/// Registers all endpoints. Literal paths come before paths with parameters, which would match them too. Otherwise
/// the most frequently called endpoints come first.
pub fn configure(routes: &mut ServiceConfig) {
    routes
        .service(scope("/v1/skills").configure(configure_skills))
        .service(scope("/v1/sessions").configure(configure_sessions))
        .service(sessions::get_snapshot)
        .service(sessions::refresh_snapshot)
        .service(sessions::list_conversations)
        .service(sessions::memories::recall)
        .service(sessions::memories::save_memory)
        .service(sessions::memories::list_memories)
        .service(sessions::memories::approve_memory)
        .service(sessions::memories::get_memory)
        .service(sessions::memories::change_memory)
        .service(sessions::memories::list_memory_versions)
        .service(sessions::memories::delete_memory)
        .service(sessions::memories::get_soul)
        .service(sessions::memories::list_souls)
        .service(sessions::memories::approve_soul)
        .service(sessions::memories::put_soul)
        .service(graph::get_graph)
        .service(graph::list_entities)
        .service(graph::analyse_skills)
        .service(learning::reflections::list_reflections)
        .service(learning::reflections::start_reflection)
        .service(learning::dreams::get_learning)
        .service(learning::dreams::put_learning)
        .service(scope("/v1/dreams").configure(configure_dreams))
        .service(scope("/v1/submissions").configure(configure_submissions))
        .service(scope("/v1/directives").configure(configure_directives))
        .service(scope("/v1/admin").configure(configure_admin))
        .service(platform::health::check_health)
        .service(platform::health::check_readiness)
        .service(platform::metadata::get_resource_metadata);
}

/// Registers only the health endpoints, for the server on the separate address.
pub fn configure_health(routes: &mut actix_web::web::ServiceConfig) {
    routes.service(platform::health::check_health).service(platform::health::check_readiness);
}

fn configure_skills(routes: &mut ServiceConfig) {
    routes
        .service(skills::list_skills)
        .service(skills::save_skill)
        .service(skills::check_import)
        .service(skills::import_skills)
        .service(skills::export_skills)
        .service(skills::list_digests)
        .service(skills::report_use)
        .service(skills::match_skills)
        .service(skills::suggest_skills)
        .service(skills::load_skill)
        .service(skills::read_skill_md)
        .service(skills::patch_skill)
        .service(skills::delete_skill)
        .service(skills::put_fields)
        .service(skills::list_versions)
        .service(skills::get_findings)
        .service(skills::get_version)
        .service(skills::diff_versions)
        .service(skills::rollback_skill)
        .service(skills::list_examples)
        .service(skills::delete_example)
        .service(skills::delete_examples)
        .service(skills::get_knowledge)
        .service(skills::put_importance)
        .service(skills::list_relations)
        .service(skills::declare_relation)
        .service(skills::remove_relation)
        .service(skills::get_resource)
        .service(skills::put_resource)
        .service(skills::delete_resource)
        .service(review::share_skill);
}

fn configure_sessions(routes: &mut ServiceConfig) {
    routes
        .service(sessions::open_session)
        .service(sessions::list_sessions)
        .service(sessions::take_turn)
        .service(sessions::add_reply)
        .service(sessions::get_session)
        .service(sessions::get_turn)
        .service(sessions::list_messages)
        .service(sessions::taint_session)
        .service(sessions::give_feedback)
        .service(sessions::end_session);
}

fn configure_submissions(routes: &mut ServiceConfig) {
    routes
        .service(review::submit_skill)
        .service(review::list_submissions)
        .service(review::get_submission)
        .service(review::approve_submission)
        .service(review::reject_submission)
        .service(review::withdraw_submission)
        .service(review::rebase_submission);
}

fn configure_dreams(routes: &mut ServiceConfig) {
    routes
        .service(learning::dreams::start_dreams)
        .service(learning::dreams::list_dreams)
        .service(learning::dreams::list_candidates)
        .service(learning::dreams::get_dream)
        .service(learning::dreams::apply_dream)
        .service(learning::dreams::reject_dream)
        .service(learning::dreams::undo_dream);
}

fn configure_directives(routes: &mut ServiceConfig) {
    routes
        .service(learning::directives::list_directives)
        .service(learning::directives::get_directive)
        .service(learning::directives::put_directive)
        .service(learning::directives::delete_directive)
        .service(learning::directives::list_directive_versions);
}

fn configure_admin(routes: &mut ServiceConfig) {
    routes
        .service(tenants::create_tenant)
        .service(tenants::list_tenants)
        .service(tenants::get_tenant)
        .service(tenants::update_tenant)
        .service(tenants::suspend_tenant)
        .service(tenants::resume_tenant)
        .service(tenants::create_user)
        .service(tenants::list_users)
        .service(tenants::get_user)
        .service(tenants::list_user_sessions)
        .service(tenants::end_user_session)
        .service(tenants::suspend_user)
        .service(tenants::resume_user)
        .service(tenants::erase_user)
        .service(tenants::export_user)
        .service(tenants::hold_user)
        .service(tenants::release_user)
        .service(tenants::list_erasures)
        .service(tenants::create_issuer)
        .service(tenants::list_issuers)
        .service(tenants::delete_issuer)
        .service(tenants::create_key)
        .service(tenants::list_keys)
        .service(tenants::revoke_key)
        .service(tenants::rotate_key)
        .service(tenants::list_audit)
        .service(tenants::list_archive)
        .service(tenants::restore_skill)
        .service(tenants::review_version)
        .service(tenants::approve_version)
        .service(tenants::list_starter_skills)
        .service(tenants::get_starter_skill)
        .service(tenants::put_starter_skill)
        .service(tenants::delete_starter_skill)
        .service(tenants::list_starter_versions)
        .service(tenants::get_starter_version)
        .service(tenants::list_starter_users)
        .service(tenants::put_webhook)
        .service(tenants::get_webhook)
        .service(tenants::delete_webhook)
        .service(tenants::test_webhook)
        .service(tenants::list_job_queues)
        .service(tenants::list_jobs)
        .service(tenants::retry_job)
        .service(tenants::discard_job)
        .service(tenants::list_processes)
        .service(tenants::get_models)
        .service(tenants::get_stats);
}
