//! Every endpoint on one page. A handler extracts, calls one operation, and wraps its answer.
//!
//! A request is compared with one path after the other, so those of one beginning are a scope: a request that begins
//! otherwise passes them by at once. The macro of a handler in a scope names what follows that beginning.

mod admin;
mod directives;
mod dreams;
mod graph;
mod health;
mod memories;
mod metadata;
mod reflections;
mod sessions;
mod skills;
mod submissions;

use utoipa_actix_web::scope;
use utoipa_actix_web::service_config::ServiceConfig;

/// Registers all endpoints. Fixed paths stand before those with a parameter, which would take them; of the others those that
/// are called most stand first.
pub fn configure(routes: &mut ServiceConfig) {
    routes
        .service(scope("/v1/skills").configure(configure_skills))
        .service(scope("/v1/sessions").configure(configure_sessions))
        .service(sessions::get_snapshot)
        .service(sessions::refresh_snapshot)
        .service(sessions::list_conversations)
        .service(memories::recall)
        .service(memories::save_memory)
        .service(memories::list_memories)
        .service(memories::approve_memory)
        .service(memories::delete_memory)
        .service(memories::get_soul)
        .service(memories::list_souls)
        .service(memories::approve_soul)
        .service(memories::put_soul)
        .service(graph::get_graph)
        .service(graph::list_entities)
        .service(graph::analyse_skills)
        .service(reflections::list_reflections)
        .service(reflections::start_reflection)
        .service(dreams::get_learning)
        .service(dreams::put_learning)
        .service(scope("/v1/dreams").configure(configure_dreams))
        .service(scope("/v1/submissions").configure(configure_submissions))
        .service(scope("/v1/directives").configure(configure_directives))
        .service(scope("/v1/admin").configure(configure_admin))
        .service(health::check_health)
        .service(health::check_readiness)
        .service(metadata::get_resource_metadata);
}

/// Registers the endpoints of health alone, for an address of their own.
pub fn configure_health(routes: &mut actix_web::web::ServiceConfig) {
    routes.service(health::check_health).service(health::check_readiness);
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
        .service(submissions::share_skill);
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
        .service(submissions::submit_skill)
        .service(submissions::list_submissions)
        .service(submissions::get_submission)
        .service(submissions::approve_submission)
        .service(submissions::reject_submission)
        .service(submissions::withdraw_submission)
        .service(submissions::rebase_submission);
}

fn configure_dreams(routes: &mut ServiceConfig) {
    routes
        .service(dreams::start_dreams)
        .service(dreams::list_dreams)
        .service(dreams::list_candidates)
        .service(dreams::get_dream)
        .service(dreams::apply_dream)
        .service(dreams::reject_dream)
        .service(dreams::undo_dream);
}

fn configure_directives(routes: &mut ServiceConfig) {
    routes
        .service(directives::list_directives)
        .service(directives::get_directive)
        .service(directives::put_directive)
        .service(directives::delete_directive)
        .service(directives::list_directive_versions);
}

fn configure_admin(routes: &mut ServiceConfig) {
    routes
        .service(admin::create_tenant)
        .service(admin::list_tenants)
        .service(admin::get_tenant)
        .service(admin::update_tenant)
        .service(admin::suspend_tenant)
        .service(admin::resume_tenant)
        .service(admin::create_user)
        .service(admin::list_users)
        .service(admin::get_user)
        .service(admin::list_user_sessions)
        .service(admin::end_user_session)
        .service(admin::suspend_user)
        .service(admin::resume_user)
        .service(admin::erase_user)
        .service(admin::export_user)
        .service(admin::hold_user)
        .service(admin::release_user)
        .service(admin::list_erasures)
        .service(admin::create_issuer)
        .service(admin::list_issuers)
        .service(admin::delete_issuer)
        .service(admin::create_key)
        .service(admin::list_keys)
        .service(admin::revoke_key)
        .service(admin::rotate_key)
        .service(admin::list_audit)
        .service(admin::list_archive)
        .service(admin::restore_skill)
        .service(admin::review_version)
        .service(admin::approve_version)
        .service(admin::list_starter_skills)
        .service(admin::get_starter_skill)
        .service(admin::put_starter_skill)
        .service(admin::delete_starter_skill)
        .service(admin::list_starter_versions)
        .service(admin::get_starter_version)
        .service(admin::list_starter_users)
        .service(admin::put_webhook)
        .service(admin::get_webhook)
        .service(admin::delete_webhook)
        .service(admin::test_webhook)
        .service(admin::list_job_queues)
        .service(admin::list_jobs)
        .service(admin::retry_job)
        .service(admin::discard_job)
        .service(admin::list_processes)
        .service(admin::get_models)
        .service(admin::get_stats);
}
