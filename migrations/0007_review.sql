-- Review: where texts came from, changes that wait for a person, and findings of the scanner.
set local role knowhow_owner;

-- MARKED TEXTS

-- The texts that were written in a session, so that a later mark of the session finds them. `version` is 0 for a memory and a submission.
-- `text_id` is the user's own id for a soul. A submission is marked too: the reviewer sees it, and copies of its words are recognised.
create table session_texts (
    tenant_id uuid not null,
    user_id uuid not null,
    session_id uuid not null,
    kind text not null check (kind in ('skill', 'memory', 'soul', 'submission')),
    text_id uuid not null,
    version integer not null,
    primary key (tenant_id, user_id, session_id, kind, text_id, version),
    foreign key (tenant_id, user_id, session_id) references sessions on delete cascade
);
create index session_texts_of_text on session_texts (tenant_id, user_id, text_id);
select app.protect('session_texts');
grant select, insert on session_texts to knowhow_tenant, knowhow_admin;

-- The longer sentences and lines of tainted texts, and whole files, as 8 bytes of a digest: a text that is copied stays tainted.
-- `source_id` and `source_version` identify the first text with the passage.
create table tainted_passages (
    tenant_id uuid not null,
    user_id uuid not null,
    passage bigint not null,
    source_id uuid not null,
    source_version integer not null,
    primary key (tenant_id, user_id, passage),
    foreign key (tenant_id, user_id) references users
);
create index tainted_passages_of_source on tainted_passages (tenant_id, user_id, source_id, source_version);
select app.protect('tainted_passages');
-- Every write asks whether the user has any passage, and few users have one. If Postgres expected many rows of a user, it would look for
-- the first one among the rows of all users.
drop statistics tainted_passages_owner;
grant select, insert, delete on tainted_passages to knowhow_tenant, knowhow_admin;

-- PASSAGES OF A TEXT

-- The first eight bytes of a digest as a number.
create function app.passage(digest bytea) returns bigint language sql immutable strict parallel safe set search_path = pg_catalog
return ('x' || encode(substr(digest, 1, 8), 'hex'))::bit(64)::bigint;

-- A file in UTF-16 as text, up to 512 KiB of it. `high` is 1 if the second byte of each pair is the high one.
create function app.decoded_utf16(content bytea, high integer) returns text language sql immutable strict parallel safe
set search_path = pg_catalog
return (
    select string_agg(case
        when n >= 55296 and n <= 56319 and next >= 56320 and next <= 57343 then chr(65536 + (n - 55296) * 1024 + next - 56320)
        when n = 0 or n between 55296 and 57343 then ''
        else chr(n) end, '' order by place)
    from (
        select place, n, lead(n, 1, 0) over (order by place) as next
        from generate_series(2, least(octet_length(content), 524288) - 2, 2) as place,
            lateral (select get_byte(content, place + high) * 256 + get_byte(content, place + 1 - high)) as c (n)
    ) units);

-- A file as text, as interpreters decode it: NUL bytes are skipped, and bytes that are not UTF-8 are left out.
create function app.decoded(content bytea) returns text language plpgsql immutable strict parallel safe
set search_path = pg_catalog as $$
declare
    escaped text;
begin
    if substr(content, 1, 2) in ('\xfffe', '\xfeff') then
        return app.decoded_utf16(content, (get_byte(content, 0) = 255)::integer);
    end if;
    begin
        return convert_from(content, 'UTF8');
    exception when character_not_in_repertoire or untranslatable_character then
        -- Each NUL byte and each byte above 127 becomes `\` and three digits. A backslash of the text becomes the character 2.
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

-- A text with its escapes decoded, up to 128 Ki characters of it: those of YAML, JSON, HTML, programs, addresses and mail.
create function app.unescaped(said text) returns text language sql immutable strict parallel safe set search_path = pg_catalog
return (
    select string_agg(case
        when piece ~ '^\\u.{4}\\u' then chr(65536
            + (('x' || lpad(substr(piece, 3, 4), 8, '0'))::bit(32)::integer - 55296) * 1024
            + ('x' || lpad(substr(piece, 9, 4), 8, '0'))::bit(32)::integer - 56320)
        when piece ~ '^\\x[^{]' then app.decoded(decode(replace(piece, '\x', ''), 'hex'))
        when piece ~ '^\\[uUx]' then app.character_of(translate(substr(piece, 3), '{}', ''))
        when piece ~ '^\\[0-3]' then app.decoded(decode(piece, 'escape'))
        when piece ~ '^[%=]' then app.decoded(decode(translate(piece, '%=', ''), 'hex'))
        when piece ~* '^&(amp;)*#x' then app.character_of(trim(trailing ';' from regexp_replace(piece, '^.*#.', '')))
        when piece ~ '^&(amp;)*#' then app.character_of(to_hex(trim(trailing ';' from regexp_replace(piece, '^.*#', ''))::bigint))
        when piece ~ '^\\[nrNLP]' then E'\n'
        when piece ~ '^\\[t_ ]' then ' '
        else piece end, '' order by place)
    from regexp_matches(left(said, 131072),
        '\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\[ux]\{[0-9a-fA-F]{1,6}\}|\\U[0-9a-fA-F]{8}|(?:\\x[0-9a-fA-F]{2})+|(?:\\[0-3][0-7]{2})+|\\[ntrNLP_ ]|(?:%[0-9a-fA-F]{2})+|(?:=[0-9A-F]{2})+|&(?:amp;)*#(?:[xX][0-9a-fA-F]{1,6}|[0-9]{1,7});|[^\\&%=]+|[\\&%=]',
        'g') with ordinality as m (pieces, place), unnest(pieces) as piece);

-- A text with a blank for each run of blanks and punctuation; line breaks and the characters 1, 3 and 4 stay.
create function app.without_punctuation(said text, blank text) returns text language sql immutable strict parallel safe
set search_path = pg_catalog
return regexp_replace(said,
    '[\u0002\u0005-\u0009\u000b-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf\u00d7\u00f7\u2000-\u206f\u2190-\u2bff\u3000-\u3003\u3008-\u303f\ufe10-\ufe6f\uff61-\uff65\U0001f000-\U0001faff]+',
    blank, 'g');

-- A text in lower case and compatible forms, without marks on letters and without invisible characters.
create function app.folded(said text) returns text language plpgsql immutable strict parallel safe
set search_path = pg_catalog as $$
begin
    if octet_length(said) <> length(said) then
        said := translate(said, '。！？；：｡', repeat(E'\n', 6));
        if said is not nfkd normalized then
            said := normalize(said, NFKD);
        end if;
        said := regexp_replace(said,
            '[\u00ad\u0300-\u036f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u1ab0-\u1aff\u1dc0-\u1dff\u200b-\u200f\u202a-\u202e\u2060-\u206f\u20d0-\u20ff\u3164\ufe00-\ufe0f\ufe20-\ufe2f\ufeff\uffa0\U000e0000-\U000e0fff]+',
            '', 'g');
        if said ~ '[\U0001f150-\U0001f189\U0001f1e6-\U0001f1ff]' then
            said := translate(said, '🅐🅑🅒🅓🅔🅕🅖🅗🅘🅙🅚🅛🅜🅝🅞🅟🅠🅡🅢🅣🅤🅥🅦🅧🅨🅩🅰🅱🅲🅳🅴🅵🅶🅷🅸🅹🅺🅻🅼🅽🅾🅿🆀🆁🆂🆃🆄🆅🆆🆇🆈🆉🇦🇧🇨🇩🇪🇫🇬🇭🇮🇯🇰🇱🇲🇳🇴🇵🇶🇷🇸🇹🇺🇻🇼🇽🇾🇿',
                repeat('abcdefghijklmnopqrstuvwxyz', 3));
        end if;
        if said ~ '[\u0250-\u02af\u0370-\u052f\u1d00-\u1d7f\ua730\ua731\ua7af]' then
            said := translate(said, 'ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡʏᴢǫɑаеорсухіјѕһԁԛԝαορνιϲ', 'abcdefghijklmnopqrstuvwyzqaaeopcyxijshdqwaopvic');
        end if;
    end if;
    said := translate(lower(said), E'\r' || chr(1) || chr(3) || chr(4), '');
    return case when position(chr(27) in said) > 0 then regexp_replace(said, '\u001b\[[0-9;]*[a-z]', '', 'g') else said end;
end $$;

-- Pieces of 40 bytes of a text's letters, one from the beginning of each word. So the words count in a longer or a divided sentence too.
-- Single letters are left out, which may be marks. Chinese, Japanese and Thai letters count as words. A long word may be
-- several that are joined: it has a piece from each byte.
create function app.window_passages(spaced text) returns bigint[] language plpgsql immutable strict parallel safe
set search_path = pg_catalog as $$
declare
    letters bytea;
    starts integer[];
begin
    if octet_length(spaced) <> length(spaced) then
        spaced := regexp_replace(spaced, '([\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff])', ' \1', 'g');
    end if;
    with words as materialized (
        select word, place, octet_length(word) as size,
            (sum(octet_length(word)) over (order by place rows unbounded preceding))::integer as ends
        from string_to_table(spaced, ' ') with ordinality as w (word, place)
        where word !~ '^[a-z]?$'
    )
    select convert_to(string_agg(word, '' order by place), 'UTF8'), array_agg(ends - size + 1) || array(
        select start from words, generate_series(ends - size + 2, ends) as start where size between 24 and 400)
    into letters, starts from words;
    return array(
        select ('x' || left(md5(substr(letters, start, 40)), 16))::bit(64)::bigint | (-9223372036854775807 - 1)
        from unnest(starts) as start
        where start + 39 <= octet_length(letters));
end $$;

-- The sentences, lines and pieces of a text as digests, as a reader sees them: in compatible forms, without invisible characters, tags,
-- targets of links, marks of lists, blanks and punctuation. A sentence also counts across lines. The text in quotes, brackets, an attribute
-- or a cell also counts by itself. Digests of pieces are negative, others are not.
create function app.seen_passages(said text) returns bigint[] language plpgsql immutable strict parallel safe
set search_path = pg_catalog as $$
declare
    number constant text := '(?:[([]?(?:[0-9]{1,3}\.)*(?:[0-9]{1,3}|[a-z]|[ivxlc]{2,5})[)\]]+(?=\s)|\[[ x✓✔]?\]|[☐☑✅✓✔])';
    -- The text with separators: the character 3 for marks, 1 for ends of sentences, 4 between cells and quotes.
    spaced text;
    plain text;
    attributes text := '';
begin
    said := app.folded(said);
    if position('<' in said) > 0 then
        attributes := (select string_agg(p[1], E'\n') from regexp_matches(said, '[\s"''=]([^<>"''=]{28,})["''][^<>]*>', 'g') p);
        said := regexp_replace(said, '</?(?:[abisu]|em|strong|span|code|sub|sup|mark|small|font|kbd|wbr)(?:\s[^<>]{0,255})?/?>', '', 'g');
        said := regexp_replace(said, '</?[a-z][^<>]{0,255}>|<!--|-->', E'\n', 'g') || E'\n\n' || coalesce(attributes, '');
    end if;
    if position('](' in said) > 0 or position('[^' in said) > 0 then
        said := regexp_replace(said, '!\[|\]\([^()\s]*\)|\[\^[^\]\s]{1,20}\]', ' ', 'g');
    end if;
    if position('&' in said) > 0 then
        said := regexp_replace(said, '&(?:shy|zwn?j|[lr]rm|nobreak|zerowidthspace);', '', 'g');
        said := regexp_replace(said, '&[a-z]{2,31};', ' ', 'g');
    end if;
    said := regexp_replace(said, '^[ \t>#/]+|^:::+[a-z]*', '', 'gn');
    said := regexp_replace(said, '[.!?;:]+(?![a-z0-9])', chr(1), 'g');
    -- A list item may continue in the next line, and so may a sentence whose lines begin with marks.
    said := regexp_replace(said, '^[|*+•◦▪‣·∙●○■□–—-]+|(?<![a-z0-9])' || number, chr(3), 'gn');
    spaced := app.without_punctuation(translate(said, '|"{}[]`.!?;:' || E'\t', repeat(chr(4), 13)), '');
    plain := translate(spaced, chr(3) || chr(4), '');
    return array(
        select ('x' || left(md5(part), 16))::bit(64)::bigint & 9223372036854775807
        from (
            select string_to_table(translate(plain, chr(1), E'\n'), E'\n') as part
            union all
            select string_to_table(translate(spaced, chr(1) || chr(3) || chr(4), E'\n\n\n'), E'\n')
            where position(chr(4) in spaced) > 0
            union all
            select string_to_table(translate(regexp_replace(plain, E'\n{2,}', chr(1), 'g'), E'\n', ''), chr(1))
            union all
            select string_to_table(translate(regexp_replace(translate(spaced, chr(4), ''), E'\n{2,}', chr(1), 'g'), chr(3) || E'\n', chr(1)), chr(1))
        ) parts
        where octet_length(part) >= 28
        union
        select unnest(app.window_passages(app.without_punctuation(translate(
            regexp_replace(said, '^[0-9]{1,3}(?=[\u0001\s])|\[[0-9]{1,3}\]', ' ', 'gn'), E'\n' || chr(1) || chr(3), '   '), ' '))));
end $$;

-- The passages of a file: of its text as it is, with its escapes decoded (twice), without its comments, and with the words of its tags and
-- targets of links. A file that is not UTF-8 has passages too.
create function app.passages(content bytea) returns bigint[] language plpgsql immutable strict parallel safe
set search_path = pg_catalog as $$
declare
    said text := app.decoded(content);
    variants text[] := array[said];
begin
    for round in 1..2 loop
        exit when said !~ '\\[uUxntrNLP_ 0-3]|&(amp;)*#|%[0-9a-fA-F]{2}|=[0-9A-F]{2}';
        said := app.unescaped(said);
    end loop;
    if said <> variants[1] then
        variants := variants || said;
    end if;
    if position('<!--' in said) > 0 then
        variants := variants || regexp_replace(said, '<!--.*?-->', '', 'g');
    end if;
    if position('<' in said) > 0 or position('](' in said) > 0 then
        said := regexp_replace(said, '</?(?:[abisu]|em|strong|span|code|sub|sup|mark|small|font|kbd|wbr)/?>', '', 'gi');
        variants := variants || translate(said, '<>(', '   ');
    end if;
    return array(select distinct unnest(app.seen_passages(v)) from unnest(variants) as v);
end $$;

-- THE TAINT OF A NEW TEXT

-- At most eight items of two lists, each once: so the row stays small. Every save calls this several times, and mostly both lists are
-- empty: then it does not sort, which takes a fifth of the time.
create function app.merge_some(first text[], more text[]) returns text[] language plpgsql immutable parallel safe
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

-- The sessions that a request names, by id or key, and the sources that they have read. A name may be the id of one session and the key of
-- another: both count. An unknown session counts as tainted. The rows stay locked: a transaction that marks one of them waits for the text
-- that is written here, and then finds it. The function is VOLATILE, so that each statement sees what was committed by then.
create function app.find_taint(named text[], out sessions uuid[], out tainted_in text[], out tainted_by text[])
language plpgsql volatile set search_path = pg_catalog, public as $$
declare
    name text;
    found_one record;
    is_known boolean;
begin
    sessions := '{}';
    tainted_in := '{}';
    tainted_by := '{}';
    foreach name in array coalesce(named, '{}') loop
        is_known := false;
        for found_one in
            select s.session_id, s.tainted_by from sessions s
            where s.tenant_id = app.tenant_id() and s.user_id = app.user_id() and s.session_id in (
                (case when pg_input_is_valid(name, 'uuid') then name end)::uuid,
                (select k.session_id from sessions k
                 where k.tenant_id = app.tenant_id() and k.user_id = app.user_id() and k.key = name
                 order by k.session_id desc limit 1))
            for share
        loop
            is_known := true;
            sessions := sessions || found_one.session_id;
            if found_one.tainted_by <> '{}' then
                tainted_in := app.merge_some(tainted_in, array[found_one.session_id::text]);
                tainted_by := app.merge_some(tainted_by, found_one.tainted_by);
            end if;
        end loop;
        if not is_known then
            tainted_in := app.merge_some(tainted_in, array[name]);
            tainted_by := app.merge_some(tainted_by, array['a session that is not known']);
        end if;
    end loop;
    sessions := array(select distinct unnest(sessions));
end $$;

-- Stores the passages of a tainted text: at most 512 sentences and 1,024 pieces of one text, the smallest ones, which are as good as any;
-- and at most 100,000 of one user. They are inserted in one order, so that two writers do not wait for each other.
create function app.keep_passages(passages bigint[], source uuid, source_version integer) returns void
language plpgsql volatile set search_path = pg_catalog, public as $$
begin
    if (select count(*) from (select from tainted_passages p
                              where p.tenant_id = app.tenant_id() and p.user_id = app.user_id() limit 100000) kept) = 100000 then
        return;
    end if;
    insert into tainted_passages (tenant_id, user_id, passage, source_id, source_version)
    select app.tenant_id(), app.user_id(), kept.p, source, source_version
    from (
        (select p from unnest(passages) p where p >= 0 order by p limit 512)
        union all
        (select p from unnest(passages) p where p < 0 order by p limit 1024)
    ) kept
    order by kept.p
    on conflict do nothing;
end $$;

-- Whether any of the passages is one of a tainted text.
create function app.has_tainted(passages bigint[]) returns boolean
language sql stable set search_path = pg_catalog, public
    return exists (select from tainted_passages p
                   where p.tenant_id = app.tenant_id() and p.user_id = app.user_id() and p.passage = any (passages));

-- Whether a text that is about to be written is tainted, and by what:
-- - by the sessions that the request names;
-- - by the text that it is made from (`carried_in`, `carried_by`; null if that is clean or no part of it is left);
-- - by passages of tainted texts in it.
-- `base` is a clean text that it replaces: passages that are in the base too did not come with this text. It is read only if the text has
-- a passage of a tainted one, or is tainted itself. `digests` are those of all its files. The passages of a tainted text are stored if it
-- has a `source`.
create function app.weigh(named text[], carried boolean, carried_in text[], carried_by text[], texts bytea[], digests bytea[],
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
    if tainted and source is not null then
        perform app.keep_passages(passages, source, source_version);
    end if;
end $$;

-- The passages that a version has and an earlier one had not. An earlier version that is tainted excludes none. Files that both have are
-- left out, and of the others those beyond 128 KiB together: they count by their digests alone.
create function app.added_passages(skill uuid, of_version integer, since_version integer) returns bigint[]
language sql stable set search_path = pg_catalog, public as $$
    with texts as (
        select v.version, coalesce(t.document, r.content) as document,
               array(select decode(e ->> 'digest', 'hex') from jsonb_array_elements(v.resources) e) as files,
               sha256(coalesce(t.document, r.content)) as digest
        from skill_versions v
        left join starter_texts t on t.starter_id = v.starter_id
        left join skill_resources r on r.tenant_id = app.tenant_id() and r.user_id = app.user_id() and r.digest = v.document_digest
        where v.tenant_id = app.tenant_id() and v.user_id = app.user_id() and v.skill_id = skill
          and v.version in (of_version, since_version) and (v.version = of_version or not v.tainted)
    ), added as (
        select f.content, sum(f.size) over (order by f.size, f.digest) as total
        from (
            select r.digest, r.content, octet_length(r.content) as size
            from texts x, skill_resources r
            where x.version = of_version and r.tenant_id = app.tenant_id() and r.user_id = app.user_id() and r.digest = any (x.files)
              and not exists (select from texts y where y.version < of_version and r.digest = any (y.files))
        ) f
    )
    select array(
        select unnest(app.passages(x.document)) from texts x where x.version = of_version
        union select unnest(app.passages(a.content)) from added a where a.total <= 131072
        union select app.passage(d) from texts x, unnest(x.files || x.digest) d where x.version = of_version
        except select unnest(app.passages(x.document)) from texts x where x.version < of_version
        except select app.passage(d) from texts x, unnest(x.files || x.digest) d where x.version < of_version)
$$;

-- THE SPREAD OF A MARK

-- The maximum number of texts that are compared when a mark spreads. Beyond it, later versions of a marked skill count as made from it.
create function app.most_compared() returns integer language sql immutable parallel safe
set search_path = pg_catalog return 64;

-- Spreads the taint of a skill to its later versions, from the first tainted one on, and to the skill itself. A version that was made by a
-- change of a tainted one is tainted. A new text is tainted if it has passages of tainted texts. A version that a person approved stays
-- approved, and versions made from it are clean. Returns whether the taint of the current version has changed.
create function app.spread_in_skill(skill uuid) returns boolean
language plpgsql volatile set search_path = pg_catalog, public as $$
declare
    one record;
    before record;
    compared integer := 0;
    is_marked boolean := false;
    changed integer;
begin
    for one in
        select v.version, v.tainted, v.derived, v.approved_at, v.tainted_in, v.tainted_by from skill_versions v
        where v.tenant_id = app.tenant_id() and v.user_id = app.user_id() and v.skill_id = skill
          and v.version >= (select min(m.version) from skill_versions m
                            where m.tenant_id = app.tenant_id() and m.user_id = app.user_id() and m.skill_id = skill and m.tainted)
        order by v.version
    loop
        if not one.tainted and one.approved_at is null and is_marked then
            one.tainted := coalesce(one.derived, true) or compared >= app.most_compared();
            if not one.tainted then
                compared := compared + 1;
                one.tainted := app.has_tainted(app.added_passages(skill, one.version, one.version - 1));
            end if;
            if one.tainted then
                update skill_versions v
                set tainted = true, tainted_in = before.tainted_in, tainted_by = before.tainted_by
                where v.tenant_id = app.tenant_id() and v.user_id = app.user_id() and v.skill_id = skill and v.version = one.version;
                one.tainted_in := before.tainted_in;
                one.tainted_by := before.tainted_by;
            end if;
        end if;
        is_marked := one.tainted;
        before := one;
    end loop;
    update skills s set tainted = v.tainted
    from skill_versions v
    where s.tenant_id = app.tenant_id() and s.user_id = app.user_id() and s.skill_id = skill
      and v.tenant_id = s.tenant_id and v.user_id = s.user_id and v.skill_id = s.skill_id and v.version = s.version
      and s.tainted <> v.tainted;
    get diagnostics changed = row_count;
    return changed > 0;
end $$;

-- Marks the versions of a skill that were written in tainted sessions, and the versions that were made from them.
create function app.mark_skill(skill uuid) returns boolean
language plpgsql volatile set search_path = pg_catalog, public as $$
declare
    one record;
begin
    for one in
        update skill_versions v
        set tainted = true, tainted_in = app.merge_some(v.tainted_in, m.tainted_in),
            tainted_by = app.merge_some(v.tainted_by, m.tainted_by)
        from (select w.version, array_agg(s.session_id::text) as tainted_in, min(s.tainted_by) as tainted_by
              from session_texts w
              join sessions s on s.tenant_id = w.tenant_id and s.user_id = w.user_id and s.session_id = w.session_id
              where w.tenant_id = app.tenant_id() and w.user_id = app.user_id() and w.text_id = skill and w.kind = 'skill'
                and s.tainted_by <> '{}'
              group by w.version) m
        where v.tenant_id = app.tenant_id() and v.user_id = app.user_id() and v.skill_id = skill
          and v.version = m.version and v.approved_at is null
        returning v.version
    loop
        perform app.keep_passages(app.added_passages(skill, one.version, one.version - 1), skill, one.version);
    end loop;
    return app.spread_in_skill(skill);
end $$;

-- Marks the current version of a skill if it has new passages of tainted texts. A passage is new if neither the last version before
-- `since` has it nor the last one that a person approved: a text made from an approved one is clean, in any order of marks. Returns
-- whether the taint of the current version has changed.
create function app.mark_if_copied(skill uuid, since timestamptz) returns boolean
language plpgsql volatile set search_path = pg_catalog, public as $$
begin
    update skill_versions v
    set tainted = true, tainted_in = o.tainted_in, tainted_by = o.tainted_by
    from skills s, lateral (
        select f.tainted_in, f.tainted_by
        from tainted_passages p
        left join skill_versions f on f.tenant_id = app.tenant_id() and f.user_id = app.user_id()
            and f.skill_id = p.source_id and f.version = p.source_version
        where p.tenant_id = app.tenant_id() and p.user_id = app.user_id()
          and p.passage = any (app.added_passages(skill, s.version, (
              select max(b.version) from skill_versions b
              where b.tenant_id = app.tenant_id() and b.user_id = app.user_id() and b.skill_id = skill
                and (b.created_at < since or b.approved_at is not null))))
        order by f.version is null limit 1) o
    where s.tenant_id = app.tenant_id() and s.user_id = app.user_id() and s.skill_id = skill
      and v.tenant_id = s.tenant_id and v.user_id = s.user_id and v.skill_id = skill and v.version = s.version
      and not v.tainted and v.approved_at is null;
    return app.spread_in_skill(skill);
end $$;

-- Marks texts that were written since then and have passages of tainted texts: copies that were made before the mark. Only the newest
-- texts are compared, up to a limit.
create function app.mark_copies(since timestamptz) returns boolean
language plpgsql volatile set search_path = pg_catalog, public as $$
declare
    one record;
    shown boolean := false;
begin
    if not exists (select from tainted_passages p where p.tenant_id = app.tenant_id() and p.user_id = app.user_id()) then
        return false;
    end if;
    for one in
        select s.skill_id from skills s
        where s.tenant_id = app.tenant_id() and s.user_id = app.user_id() and s.updated_at >= since and not s.tainted
          and s.starter_id is null
        order by s.updated_at desc limit app.most_compared()
    loop
        shown := app.mark_if_copied(one.skill_id, since) or shown;
    end loop;
    with copies as (
        update memories m set tainted = true
        where m.tenant_id = app.tenant_id() and m.user_id = app.user_id() and not m.tainted and m.approved_at is null
          and coalesce(m.updated_at, m.created_at) >= since
          and m.memory_id in (select n.memory_id from memories n
                              where n.tenant_id = app.tenant_id() and n.user_id = app.user_id()
                                and coalesce(n.updated_at, n.created_at) >= since
                              order by coalesce(n.updated_at, n.created_at) desc limit 1000)
          and app.has_tainted(app.passages(convert_to(m.content, 'UTF8')))
        returning m.memory_id
    )
    select shown or count(*) > 0 into shown from copies;
    with copies as (
        update souls o set tainted = true
        where o.tenant_id = app.tenant_id() and o.user_id = app.user_id() and not o.tainted and o.approved_at is null
          and o.created_at >= since
          and app.has_tainted(app.passages(convert_to(o.content, 'UTF8')))
        returning o.version
    )
    select shown or count(*) > 0 into shown from copies;
    return shown;
end $$;

-- Marks a session as having read these sources, for good, and with it all that was written or proposed in it: skills and the texts made or
-- copied from them, submissions, memories, souls, title and summary. Returns null if the user has no such session, else whether the mark
-- is new. It locks the catalogue's row first, as every write to skills does, so that no deadlock can occur.
create function app.mark_session(marked_session uuid, sources text[], noted_at timestamptz) returns boolean
language plpgsql volatile set search_path = pg_catalog, public as $$
declare
    marked record;
    one uuid;
    is_new boolean;
    shown boolean := false;
begin
    perform from user_catalogs c where c.tenant_id = app.tenant_id() and c.user_id = app.user_id() for update;
    select s.tainted_by, s.started_at into marked from sessions s
    where s.tenant_id = app.tenant_id() and s.user_id = app.user_id() and s.session_id = marked_session
    for update;
    if not found then
        return null;
    end if;
    is_new := not sources <@ marked.tainted_by and cardinality(marked.tainted_by) < 64;
    -- At most 64 sources are stored, so that the row stays small. A turn has the same limit.
    if is_new then
        update sessions s set tainted_by = array(select distinct unnest(s.tainted_by || sources) order by 1)
        where s.tenant_id = app.tenant_id() and s.user_id = app.user_id() and s.session_id = marked_session;
    end if;
    if not is_new and marked.tainted_by <> '{}' then
        return false;
    end if;
    with marks as (
        update memories m set tainted = true from session_texts w
        where w.tenant_id = app.tenant_id() and w.user_id = app.user_id() and w.session_id = marked_session and w.kind = 'memory'
          and m.tenant_id = w.tenant_id and m.user_id = w.user_id and m.memory_id = w.text_id and not m.tainted
          and m.approved_at is null
        returning m.memory_id, m.content
    ), former as (
        -- Earlier versions from this session's on: later ones may be derived from it.
        update memory_versions v set tainted = true from session_texts w
        where w.tenant_id = app.tenant_id() and w.user_id = app.user_id() and w.session_id = marked_session and w.kind = 'memory'
          and v.tenant_id = w.tenant_id and v.user_id = w.user_id and v.memory_id = w.text_id and v.version >= w.version
          and not v.tainted
        returning v.memory_id, v.content
    ), souled as (
        update souls o set tainted = true from session_texts w
        where w.tenant_id = app.tenant_id() and w.user_id = app.user_id() and w.session_id = marked_session and w.kind = 'soul'
          and o.tenant_id = w.tenant_id and o.user_id = w.user_id and o.version = w.version and not o.tainted
          and o.approved_at is null
        returning o.version, o.content
    ), kept as (
        select app.keep_passages(app.passages(convert_to(content, 'UTF8')), memory_id, 0) from marks
        union all
        select app.keep_passages(app.passages(convert_to(content, 'UTF8')), memory_id, 0) from former
        union all
        select app.keep_passages(app.passages(convert_to(content, 'UTF8')), app.user_id(), version) from souled
    )
    select count(*) > 0 into shown from kept;
    update conversation_summaries c set tainted = true
    where c.tenant_id = app.tenant_id() and c.user_id = app.user_id() and c.session_id = marked_session and not c.tainted;
    shown := shown or found;
    for one in
        select distinct w.text_id from session_texts w
        where w.tenant_id = app.tenant_id() and w.user_id = app.user_id() and w.session_id = marked_session and w.kind = 'skill'
    loop
        shown := app.mark_skill(one) or shown;
    end loop;
    perform app.mark_submissions(marked_session);
    shown := app.mark_copies(marked.started_at) or shown;
    if shown then
        update user_catalogs c
        set revision = c.revision + 1, snapshot_floor = c.revision + 1, marked_at = noted_at
        where c.tenant_id = app.tenant_id() and c.user_id = app.user_id();
    end if;
    return true;
end $$;

-- SUBMISSIONS

-- Changes of skills on their way through review. A submission is in no list, search, embedding or snapshot, and reserves no name. It has
-- the proposed document and files as a whole: an approval is for exactly these bytes.
create table submissions (
    tenant_id uuid not null,
    user_id uuid not null,
    submission_id uuid not null,
    -- The skill that it changes; null for a new skill.
    skill_id uuid,
    name text collate "C" not null,
    kind text not null
        check (kind in ('save', 'patch', 'import', 'enrich', 'merge', 'optimize', 'rollback', 'sync', 'delete', 'share')),
    -- 'checking': no rule holds the change back, but a chat model has not read it yet.
    state text not null
        check (state in ('checking', 'needs_review', 'approved', 'rejected', 'stale', 'withdrawn', 'expired')),
    source text not null,
    submitter text not null,
    session text,
    reason text,
    -- The skill when the change was proposed; 0 and null if there was none.
    base_version integer not null,
    base_digest bytea,
    -- The digest of the resulting state; null for a deletion.
    result_digest bytea,
    document text,
    resources jsonb not null default '[]',
    pinned boolean,
    request_digest bytea,
    derived boolean not null default false,
    successor_id uuid,
    successor_name text,
    tainted boolean not null,
    tainted_in text[] not null default '{}',
    tainted_by text[] not null default '{}',
    checks jsonb not null,
    bytes bigint not null,
    decided_by text,
    comment text,
    applied_version integer,
    created_at timestamptz not null,
    decided_at timestamptz,
    expires_at timestamptz not null,
    notified_at timestamptz,
    primary key (tenant_id, user_id, submission_id),
    foreign key (tenant_id, user_id) references users
);
create index submissions_waiting on submissions (tenant_id, user_id, submission_id) where state in ('checking', 'needs_review');
-- Submissions that no model has read in time go to people.
create index submissions_checking on submissions (created_at) where state = 'checking';
create index submissions_of_tenant on submissions (tenant_id, submission_id);
create index submissions_of_result on submissions (tenant_id, user_id, name, result_digest);
create index submissions_by_expiry on submissions (expires_at);
-- Finds the deletions that the scanner itself has proposed.
create index submissions_of_skill on submissions (skill_id, user_id, tenant_id) where skill_id is not null;
select app.protect('submissions');
select app.open_to_system('submissions');
grant select, insert, update on submissions to knowhow_tenant, knowhow_admin;
grant select (tenant_id, user_id, submission_id, state, created_at, expires_at),
    update (state, decided_at, document, resources, expires_at), delete on submissions to knowhow_system;

-- Files of a submission that the user has not stored otherwise.
create table submission_files (
    tenant_id uuid not null,
    user_id uuid not null,
    submission_id uuid not null,
    digest bytea not null,
    content bytea not null,
    primary key (tenant_id, user_id, submission_id, digest),
    foreign key (tenant_id, user_id, submission_id) references submissions on delete cascade
);
select app.protect('submission_files');
select app.open_to_system('submission_files');
grant select, insert, delete on submission_files to knowhow_tenant, knowhow_admin;
grant select (tenant_id, user_id, submission_id), delete on submission_files to knowhow_system;

-- Refuses a tainted text if the tenant has such texts reviewed. The service sends COMMIT together with the write that calls this. So it
-- raises an error: the transaction is rolled back, and the service writes a submission instead.
create function app.admit(tainted boolean, is_reviewed boolean) returns boolean language plpgsql set search_path = pg_catalog as $$
begin
    if tainted and is_reviewed then
        raise exception 'a tainted text waits for review' using errcode = 'KH002';
    end if;
    return true;
end
$$;
revoke all on function app.admit(boolean, boolean) from public;
grant execute on function app.admit(boolean, boolean) to knowhow_tenant, knowhow_admin;

-- The passages of a submission, its files by their digests, without those of a clean state that it was made from.
create function app.submitted_passages(submission uuid) returns bigint[]
language sql stable set search_path = pg_catalog, public as $$
    with proposed as (
        select p.skill_id, p.base_version, convert_to(p.document, 'UTF8') as document from submissions p
        where p.tenant_id = app.tenant_id() and p.user_id = app.user_id() and p.submission_id = submission
    ), files as (
        select f.digest, f.content from submission_files f
        where f.tenant_id = app.tenant_id() and f.user_id = app.user_id() and f.submission_id = submission
    ), base as (
        select coalesce(t.document, r.content) as document from proposed p
        join skill_versions v on v.tenant_id = app.tenant_id() and v.user_id = app.user_id() and v.skill_id = p.skill_id
            and v.version = p.base_version and not v.tainted
        left join starter_texts t on t.starter_id = v.starter_id
        left join skill_resources r on r.tenant_id = app.tenant_id() and r.user_id = app.user_id() and r.digest = v.document_digest
    )
    select array(
        select unnest(app.passages(p.document)) from proposed p
        union select app.passage(sha256(p.document)) from proposed p
        union select unnest(app.passages(f.content)) from files f
        union select app.passage(f.digest) from files f
        except select unnest(app.passages(b.document)) from base b)
$$;

-- Marks the changes that were proposed in a session, unless a person has approved them.
create function app.mark_submissions(marked_session uuid) returns void
language plpgsql volatile set search_path = pg_catalog, public as $$
declare
    one record;
begin
    for one in
        update submissions p
        set tainted = true, tainted_in = app.merge_some(p.tainted_in, array[marked_session::text]),
            tainted_by = app.merge_some(p.tainted_by, s.tainted_by)
        from session_texts w
        join sessions s on s.tenant_id = w.tenant_id and s.user_id = w.user_id and s.session_id = w.session_id
        where w.tenant_id = app.tenant_id() and w.user_id = app.user_id() and w.session_id = marked_session
          and w.kind = 'submission' and p.tenant_id = w.tenant_id and p.user_id = w.user_id and p.submission_id = w.text_id
          and not p.tainted and p.state <> 'approved'
        returning p.submission_id
    loop
        perform app.keep_passages(app.submitted_passages(one.submission_id), one.submission_id, 0);
    end loop;
end $$;

revoke all on function app.passage(bytea), app.decoded_utf16(bytea, integer), app.decoded(bytea), app.character_of(text), app.unescaped(text),
    app.without_punctuation(text, text), app.folded(text), app.window_passages(text),
    app.seen_passages(text), app.passages(bytea), app.merge_some(text[], text[]), app.find_taint(text[]),
    app.keep_passages(bigint[], uuid, integer), app.has_tainted(bigint[]),
    app.weigh(text[], boolean, text[], text[], bytea[], bytea[], bytea, bytea[], uuid, integer),
    app.added_passages(uuid, integer, integer), app.most_compared(), app.spread_in_skill(uuid), app.mark_skill(uuid),
    app.mark_session(uuid, text[], timestamptz), app.mark_if_copied(uuid, timestamptz), app.mark_copies(timestamptz),
    app.submitted_passages(uuid), app.mark_submissions(uuid) from public;
grant execute on function app.passage(bytea), app.decoded_utf16(bytea, integer), app.decoded(bytea), app.character_of(text), app.unescaped(text),
    app.without_punctuation(text, text), app.folded(text), app.window_passages(text),
    app.seen_passages(text), app.passages(bytea), app.merge_some(text[], text[]), app.find_taint(text[]),
    app.keep_passages(bigint[], uuid, integer), app.has_tainted(bigint[]),
    app.weigh(text[], boolean, text[], text[], bytea[], bytea[], bytea, bytea[], uuid, integer),
    app.added_passages(uuid, integer, integer), app.most_compared(), app.spread_in_skill(uuid), app.mark_skill(uuid),
    app.mark_session(uuid, text[], timestamptz), app.mark_if_copied(uuid, timestamptz), app.mark_copies(timestamptz),
    app.submitted_passages(uuid), app.mark_submissions(uuid) to knowhow_tenant, knowhow_admin;

-- SCANS

-- The findings of the scanner in live skills. A skill without findings has no row.
create table skill_scans (
    tenant_id uuid not null,
    user_id uuid not null,
    skill_id uuid not null,
    -- The state that was read; null if only a change was read, so that the whole skill must still be read.
    digest bytea,
    -- The version of the rules.
    rules integer not null,
    verdict text not null check (verdict in ('review', 'quarantine', 'reject')),
    findings jsonb not null,
    scanned_at timestamptz not null,
    primary key (tenant_id, user_id, skill_id),
    foreign key (tenant_id, user_id, skill_id) references skills on delete cascade
);
select app.protect('skill_scans');
select app.open_to_system('skill_scans');
grant select, insert, update, delete on skill_scans to knowhow_tenant, knowhow_admin;
grant select (tenant_id, user_id, skill_id, digest) on skill_scans to knowhow_system;

-- The findings of the scanner in texts of libraries. A text without a row, or with a row of older rules, must still be read.
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
grant select, insert on library_scans to knowhow_admin;
grant select, insert, update on library_scans to knowhow_system;

reset role;
