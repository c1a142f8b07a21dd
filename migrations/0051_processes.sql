set local role knowhow_owner;

-- The processes that use this database: doctor and operators see from it how many there are, of which version, and how many connections
-- they may open together. A process says every 20 s that it is there, and removes its row when it ends; the row of one that crashed is
-- removed by another process. Times are those of the database, as the clocks of hosts differ.
create table processes (
    process_id uuid primary key,
    kind text not null check (kind in ('serve', 'serve_with_worker', 'worker')),
    version text not null,
    host text not null,
    connections integer not null check (connections > 0),
    started_at timestamptz not null default now(),
    seen_at timestamptz not null default now()
);
grant select, insert, update (seen_at), delete on processes to knowhow_system;

reset role;
