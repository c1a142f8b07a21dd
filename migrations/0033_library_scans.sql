set local role knowhow_owner;

-- What the scanner has found in texts of libraries. One without a row, or with one of older rules, is still to be read.
create table library_scans (
    tenant_id uuid not null,
    starter_id integer not null,
    -- The version of the rules.
    rules integer not null,
    verdict text not null check (verdict in ('ok', 'review', 'quarantine', 'reject')),
    findings jsonb not null,
    scanned_at timestamptz not null,
    primary key (tenant_id, starter_id),
    foreign key (tenant_id, starter_id) references library_texts
);
select app.protect('library_scans');
select app.open_to_system('library_scans');
grant select on library_scans to knowhow_admin;
grant select, insert, update on library_scans to knowhow_system;
grant select (version, document) on library_texts to knowhow_system;

reset role;
