-- What a prompt says depends on what the agent can call, and on how many words its channel has room for. A user has a
-- current snapshot for each form that sessions ask for.

set local role knowhow_owner;

-- Sessions that were opened before told their agents of all tools.
alter table sessions add column tools text not null default 'full' check (tools in ('full', 'read', 'none'));

-- They are rendered when they are asked for, so none is carried over.
truncate current_snapshots;
alter table current_snapshots
    add column form text not null default 'full' check (form in ('full', 'full-short', 'read', 'read-short', 'none')),
    drop constraint current_snapshots_pkey,
    add primary key (tenant_id, user_id, index_budget, form);

reset role;
