set local role knowhow_owner;

-- A file as text, as interpreters decode it: NUL bytes are skipped, and bytes that are not UTF-8 are left out.
create function app.decoded(content bytea) returns text language plpgsql immutable strict parallel safe
set search_path = pg_catalog as $$
declare
    escaped text;
begin
    begin
        return convert_from(content, 'UTF8');
    exception when character_not_in_repertoire or untranslatable_character then
        -- Each NUL byte and each byte above 127 as `\` and three digits. A backslash of the text stays apart.
        escaped := replace(replace(encode(content, 'escape'), '\\', chr(2)), '\000', '');
    end;
    if octet_length(escaped) > 1048576 then
        return replace(regexp_replace(escaped, '\\[23][0-7]{2}', '', 'g'), chr(2), '\');
    end if;
    begin
        return replace(convert_from(decode(regexp_replace(escaped,
            '(\\3(?:0[2-7]|[1-3][0-7])\\2[0-7]{2}|\\3[45][0-7](?:\\2[0-7]{2}){2}|\\36[0-4](?:\\2[0-7]{2}){3})|\\[23][0-7]{2}',
            '\1', 'g'), 'escape'), 'UTF8'), chr(2), '\');
    exception when character_not_in_repertoire or untranslatable_character then
        return replace(regexp_replace(escaped, '\\[23][0-7]{2}', '', 'g'), chr(2), '\');
    end;
end $$;

-- The character with this number in hexadecimal digits; empty if there is none.
create function app.character_of(digits text) returns text language sql immutable strict parallel safe set search_path = pg_catalog
return (
    select case when n between 1 and 55295 or n between 57344 and 1114111 then chr(n) else '' end
    from (select ('x' || lpad(right(digits, 8), 8, '0'))::bit(32)::integer) as c (n));

-- A text with the escapes of YAML, JSON and HTML decoded, up to 128 Ki characters of it.
create function app.unescaped(said text) returns text language sql immutable strict parallel safe set search_path = pg_catalog
return (
    select string_agg(case
        when piece ~ '^\\[uUx]' then app.character_of(substr(piece, 3))
        when piece ~* '^&#x' then app.character_of(trim(trailing ';' from substr(piece, 4)))
        when piece ~ '^&#' then app.character_of(to_hex(trim(trailing ';' from substr(piece, 3))::bigint))
        when piece ~ '^\\[nrNLP]' then E'\n'
        when piece ~ '^\\[t_ ]' then ' '
        else piece end, '' order by place)
    from regexp_matches(left(said, 131072),
        '\\u[0-9a-fA-F]{4}|\\U[0-9a-fA-F]{8}|\\x[0-9a-fA-F]{2}|\\[ntrNLP_ ]|&#[xX][0-9a-fA-F]{1,6};|&#[0-9]{1,7};|[^\\&]+|[\\&]', 'g')
        with ordinality as m (pieces, place), unnest(pieces) as piece);

-- A text without blanks and punctuation; line breaks and the characters 1, 3 and 4 stay.
create function app.without_punctuation(said text) returns text language sql immutable strict parallel safe
set search_path = pg_catalog
return regexp_replace(said,
    '[\u0002\u0005-\u0009\u000b-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf\u00d7\u00f7\u2000-\u206f\u2190-\u2bff\u3000-\u3003\u3008-\u303f\ufe10-\ufe6f\uff61-\uff65\U0001f000-\U0001faff]+',
    '', 'g');

-- The sentences and lines of a text as digests, as a reader sees them: in compatible forms, without invisible characters,
-- tags, targets of links, marks of lists, blanks and punctuation. A sentence also counts across lines, and what is in quotes,
-- brackets, an attribute or a cell by itself.
create function app.seen_passages(said text) returns bigint[] language plpgsql immutable strict parallel safe
set search_path = pg_catalog as $$
declare
    number constant text := '(?:[([]?(?:[0-9]{1,3}\.)*(?:[0-9]{1,3}|[a-z]|[ivxlc]{2,5})[)\]]+(?=\s)|\[[ x✓✔]?\]|[☐☑✅✓✔])';
    -- Between marks (3), sentences (1), and what separates cells and quotes (4).
    spaced text;
    plain text;
    attributes text := '';
begin
    if octet_length(said) <> length(said) then
        said := translate(said, '。！？；：｡', repeat(E'\n', 6));
        if said is not nfkc normalized then
            said := normalize(said, NFKC);
        end if;
        said := regexp_replace(said,
            '[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]+',
            '', 'g');
    end if;
    said := translate(lower(said), E'\r' || chr(1) || chr(3) || chr(4), '');
    if position('<' in said) > 0 then
        attributes := (select string_agg(p[1], E'\n') from regexp_matches(said, '[\s"''=]([^<>"''=]{28,})["''][^<>]*>', 'g') p);
        said := regexp_replace(said, '</?(?:[abisu]|em|strong|span|code|sub|sup|mark|small|font|kbd|wbr)(?:\s[^<>]{0,255})?/?>', '', 'g');
        said := regexp_replace(said, '</?[a-z][^<>]{0,255}>|<!--|-->', E'\n', 'g') || E'\n\n' || coalesce(attributes, '');
    end if;
    if position('](' in said) > 0 or position('[^' in said) > 0 then
        said := regexp_replace(said, '\]\([^()\s]*\)|\[\^[^\]\s]{1,20}\]', ' ', 'g');
    end if;
    if position('&' in said) > 0 then
        said := regexp_replace(said, '&[a-z]{2,8};', ' ', 'g');
    end if;
    said := regexp_replace(said, '^[ \t>#/]+|^:::+[a-z]*', '', 'gn');
    said := regexp_replace(said, '[.!?;:]+(?![a-z0-9])', chr(1), 'g');
    -- A list item may go on in the next line, and so may a sentence whose lines begin with marks.
    said := regexp_replace(said, '^[|*+•◦▪‣·∙●○■□–—-]+|(?<![a-z0-9])' || number, chr(3), 'gn');
    spaced := app.without_punctuation(translate(said, '|"{}[]`.!?;:' || E'\t', repeat(chr(4), 13)));
    said := translate(spaced, chr(4), '');
    plain := translate(said, chr(3), '');
    return array(
        select distinct ('x' || left(md5(part), 16))::bit(64)::bigint
        from (
            select string_to_table(translate(plain, chr(1), E'\n'), E'\n') as part
            union all
            select string_to_table(translate(spaced, chr(1) || chr(3) || chr(4), E'\n\n\n'), E'\n')
            where position(chr(4) in spaced) > 0
            union all
            select string_to_table(translate(regexp_replace(plain, E'\n{2,}', chr(1), 'g'), E'\n', ''), chr(1))
            union all
            select string_to_table(translate(regexp_replace(said, E'\n{2,}', chr(1), 'g'), chr(3) || E'\n', chr(1)), chr(1))
        ) parts
        where octet_length(part) >= 28);
end $$;

-- As before, of what a reader sees. A file that is not UTF-8 has passages too.
create or replace function app.passages(content bytea) returns bigint[] language plpgsql immutable strict parallel safe
set search_path = pg_catalog as $$
declare
    said text := app.decoded(content);
begin
    if said !~ '\\[uUxntrNLP_ ]|&#' then
        return app.seen_passages(said);
    end if;
    return array(select unnest(app.seen_passages(said)) union select unnest(app.seen_passages(app.unescaped(said))));
end $$;

-- As before. The base is read only if the text has a passage of a tainted one, or is tainted itself.
create or replace function app.weigh(named text[], carried boolean, carried_in text[], carried_by text[], texts bytea[], digests bytea[],
    base bytea, base_digests bytea[], source uuid, source_version integer,
    out tainted boolean, out sessions uuid[], out tainted_in text[], out tainted_by text[])
language plpgsql volatile set search_path = pg_catalog, public as $$
declare
    passages bigint[];
    known boolean;
begin
    if coalesce(named, '{}') = '{}' then
        sessions := '{}';
        tainted_in := '{}';
        tainted_by := '{}';
    else
        select t.sessions, t.tainted_in, t.tainted_by into sessions, tainted_in, tainted_by from app.find_taint(named) t;
    end if;
    tainted := coalesce(carried, false) or tainted_in <> '{}';
    if carried then
        tainted_in := app.merge_some(carried_in, tainted_in);
        tainted_by := app.merge_some(carried_by, tainted_by);
    end if;
    known := exists (select from tainted_passages p where p.tenant_id = app.tenant_id() and p.user_id = app.user_id());
    if not tainted and not known then
        return;
    end if;
    passages := array(
        select unnest(app.passages(f)) from unnest(texts) f
        union select app.passage(d) from unnest(digests) d);
    if not tainted and not app.has_tainted(passages) then
        return;
    end if;
    passages := array(
        select unnest(passages)
        except select unnest(app.passages(base))
        except select app.passage(d) from unnest(base_digests) d);
    if known and not tainted then
        select app.merge_some(v.tainted_in, '{}'), app.merge_some(v.tainted_by, '{}'), true
        into tainted_in, tainted_by, tainted
        from tainted_passages p
        left join skill_versions v on v.tenant_id = app.tenant_id() and v.user_id = app.user_id()
            and v.skill_id = p.source_id and v.version = p.source_version
        where p.tenant_id = app.tenant_id() and p.user_id = app.user_id() and p.passage = any (passages)
        order by v.version is null
        limit 1;
        tainted := coalesce(tainted, false);
        tainted_in := coalesce(tainted_in, '{}');
        tainted_by := coalesce(tainted_by, '{}');
    end if;
    if tainted then
        perform app.keep_passages(passages, source, source_version);
    end if;
end $$;

revoke all on function app.decoded(bytea), app.unescaped(text), app.character_of(text), app.without_punctuation(text),
    app.seen_passages(text) from public;
grant execute on function app.decoded(bytea), app.unescaped(text), app.character_of(text), app.without_punctuation(text),
    app.seen_passages(text)
    to knowhow_tenant, knowhow_admin;

reset role;
