set local role knowhow_owner;

-- As before: at most eight of two lists, each once. Every save asks for it several times, and mostly both lists are empty: then
-- nothing is sorted, in a fifth of the time.
create or replace function app.merge_some(first text[], more text[]) returns text[] language plpgsql immutable parallel safe
set search_path = pg_catalog as $$
begin
    if coalesce(first, '{}') = '{}' and coalesce(more, '{}') = '{}' then
        return '{}';
    end if;
    return array(
        select item from (
            select item, min(place) as place
            from unnest(coalesce(first, '{}') || coalesce(more, '{}')) with ordinality as l (item, place)
            group by item) each_once
        order by place limit 8);
end $$;

reset role;
