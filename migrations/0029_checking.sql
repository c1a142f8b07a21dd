set local role knowhow_owner;

-- A submission that nothing holds is 'checking' until a chat model has read it.
alter table submissions
    drop constraint submissions_state_check,
    add check (state in ('checking', 'needs_review', 'approved', 'rejected', 'stale', 'withdrawn', 'expired'));
drop index submissions_waiting;
create index submissions_waiting on submissions (tenant_id, user_id, submission_id) where state in ('checking', 'needs_review');

-- Those that no model has read in time are for people.
create index submissions_checking on submissions (created_at) where state = 'checking';
grant select (created_at) on submissions to knowhow_system;

reset role;
