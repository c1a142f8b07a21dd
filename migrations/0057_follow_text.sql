set local role knowhow_owner;

-- What follows from another text of a skill, called by the statement that writes it. As statements of their own these cost every
-- save a tenth of a millisecond, mostly to find that there is nothing to do.
-- Without a name the text is the same, and nothing is read for relations. `kept_model`: whose vector a job is to replace.
create function app.follow_text(of_skill uuid, its_name text, tasks text[], bulk boolean, relate_task text,
    outdates_vectors boolean, kept_model text) returns boolean
language plpgsql volatile set search_path = pg_catalog, public as $$
declare
    of_tenant constant uuid := app.tenant_id();
    of_user constant uuid := app.user_id();
begin
    if outdates_vectors then
        delete from skill_embeddings e
        where e.tenant_id = of_tenant and e.user_id = of_user and e.skill_id = of_skill
          and e.model is distinct from kept_model;
    end if;
    -- A text that says nothing of other skills is read for relations nevertheless where others may say one to its name, or it may
    -- name a thing of the user's.
    if its_name is not null and (
        exists (select from relation_hints h where h.tenant_id = of_tenant and h.user_id = of_user and h.to_name = its_name)
        or exists (select from entities t where t.tenant_id = of_tenant and t.user_id = of_user and t.kind <> 'skill'))
    then
        update entities t set read_by = least(t.read_by, 0) - 1
        where t.tenant_id = of_tenant and t.user_id = of_user and t.entity_id = of_skill;
        if not found then
            insert into entities (tenant_id, user_id, entity_id, kind, canonical, name, created_at)
            values (of_tenant, of_user, of_skill, 'skill', replace(its_name, '-', ' '), its_name, now())
            on conflict do nothing;
        end if;
        perform app.enqueue(relate_task, '{}', 'all', bulk);
    end if;
    perform app.enqueue(task, jsonb_build_object('skill_id', of_skill), of_skill::text, bulk) from unnest(tasks) task;
    return true;
end $$;
revoke all on function app.follow_text(uuid, text, text[], boolean, text, boolean, text) from public;
grant execute on function app.follow_text(uuid, text, text[], boolean, text, boolean, text) to knowhow_tenant;

reset role;
