set local role knowhow_owner;

-- max_turns of a session was the number of messages that it could take. It is now the number of rounds (calls of the model, each with
-- its tool calls) that the agent may take to answer one message. Sessions that had taken all their messages go on.
alter table sessions
    -- The budget of the current turn, if the turn overrides that of the session.
    add column turn_max_turns integer,
    -- Tool calls over MCP in the current turn.
    add column turn_calls integer not null default 0,
    -- Replies that spent their budget.
    add column budgets_spent integer not null default 0;

-- How the agent came to a reply: its rounds, the outcomes of its tool calls, and whether the budget was spent.
alter table messages
    add column rounds integer,
    add column tools jsonb not null default '[]',
    add column budget_spent boolean not null default false;

reset role;
