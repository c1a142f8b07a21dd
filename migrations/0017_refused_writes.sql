set local role knowhow_owner;

-- COMMIT is on the wire behind a write before the write has answered. One that did not find what it was to change must
-- therefore fail: whatever else its transaction has done would be committed without it.
create function app.require_written(row_id uuid) returns uuid language plpgsql set search_path = pg_catalog as $$
begin
    if row_id is null then
        raise exception 'what was to be written is gone, or has changed' using errcode = 'KH001';
    end if;
    return row_id;
end
$$;

revoke all on function app.require_written(uuid) from public;
grant execute on function app.require_written(uuid) to knowhow_tenant, knowhow_admin;

reset role;
