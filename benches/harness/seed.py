"""The benchmark's tenant: users, tokens, skills, and the file that the wrk script reads."""

import base64
import hashlib
import hmac
import http.client
import json
import secrets
import time
from pathlib import Path
from urllib.parse import quote_plus

from tools.caller import send
from tools.settings import Failed
from tools.waiting import until

from . import mcp
from .operations import REFUSED
from .statements import SQL

SLUG = "bench"
GROWTH_FIRST = 100_001
COPY_AT_ONCE = 1000
# Creators are numbered from here, in blocks of which each is used for one measurement.
CREATORS_FIRST, MOST_CREATORS = 50_001, 50_000
BODY_BYTES = 3300


class Tenant:
    """What was seeded, and who may ask for it."""

    def __init__(self, instance, users, skills, texts, slug=SLUG):
        self.instance, self.users, self.texts, self.slug, self.issuer = instance, users, texts, slug, f"knowhow-{slug}"
        self.secret = secrets.token_hex(32)
        self.skills = [{"name": f"skill-{k:03}"} for k in range(1, skills + 1)]
        self.body = "\n\n" + texts.body(BODY_BYTES)
        self.messages = []
        self.description = "Benchmark skill. Use when the speed of the service is measured."
        self.created = 0  # creators so far
        self.creators = range(0)

    def token(self, number, hours=6):
        """A JWT (HS256) of a user."""
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": "knowhow", "sub": f"user-{number}", "tid": self.slug, "roles": ["user"],
                  "iat": now, "nbf": now, "exp": now + hours * 3600}
        head, payload = (encode(json.dumps(part, separators=(",", ":")).encode())
                         for part in ({"alg": "HS256", "typ": "JWT"}, claims))
        signature = hmac.new(self.secret.encode(), f"{head}.{payload}".encode(), hashlib.sha256).digest()
        return f"{head}.{payload}.{encode(signature)}"

    def seed(self, with_skills=None):
        """Users 1..n read, n+1..2n write. The first of each are saved through REST, the others are copies of them; with
        `with_skills` that many users are copies of user 1. Where a worker with a model is at work, they have vectors too."""
        self.make_tenant()
        self.instance.psql(file=SQL / "names.sql")
        self.id = self.instance.psql(f"select tenant_id from tenants where slug = '{self.slug}'")
        self.make_users(1, 2 * self.users)
        wishes = [wish for wish in self.save(1, self.skills) if wish]
        calls = [f"use {skill['name']} for this one, please" for skill in self.skills[:2]]
        self.messages = wishes[:3] + calls[:1] + wishes[3:6] + calls[1:]
        self.copy(2, with_skills or self.users, text=1)
        if not with_skills:
            self.seed_writers()
        self.instance.psql("vacuum (analyze)")
        self.instance.psql("checkpoint")

    def save(self, user, skills, size=None):
        """Saves a user's skills through REST, of the next texts, cut to this many bytes; waits for their vectors. Returns the
        messages that ask for them."""
        texts = [self.texts.skill(size) for _ in skills]
        wishes = [text.pop("wish") for text in texts]
        for skill, etag in zip(skills, self.save_all(user, zip(skills, texts)), strict=True):
            skill["etag"] = etag
        return wishes

    def seed_writers(self):
        """Gives users n+1..2n the text that they save, so that a save is a new version with another first line. Where it replaces
        another text it does more, which the reference does not: that is measured by itself."""
        first = self.users + 1
        text = {"description": self.description, "content": "0" + self.body}
        self.save_all(first, ((skill, text) for skill in self.skills))
        self.copy(first + 1, 2 * self.users, text=1, source=first)

    def save_all(self, user, texts):
        """Saves skills of a user through REST and waits for their vectors; returns their entity tags."""
        connection = http.client.HTTPConnection("127.0.0.1", self.instance.port, timeout=30)
        token, etags = self.token(user), []
        for skill, text in texts:
            status, _, answer = send(connection, "POST", "/v1/skills", token, {"name": skill["name"], **text})
            if status != 201:
                raise Failed(f"seeding through REST was answered with {status}: {answer.decode()[:300]}")
            etags.append(send(connection, "GET", f"/v1/skills/{skill['name']}/SKILL.md", token)[1]["ETag"])
        connection.close()
        if self.instance.embeds:
            count = f"select count(*) from skill_embeddings where user_id = bench.user_id({user})"
            until("the vectors of a user's skills", lambda: int(self.instance.psql(count)) == len(etags))
        return etags

    def make_tenant(self, **more):
        """A tenant with room to grow, without starter skills, whose tokens this program can sign."""
        operator = self.instance.knowhow("token", "--operator", "--user", "bench")
        settings = {"starter_skills": False, "skills_per_user": 1_000_000, "bytes_per_user": 1 << 40, **more}
        requests = [("/v1/admin/tenants", {"slug": self.slug, "name": "Benchmark", "settings": settings}),
                    (f"/v1/admin/issuers?tenant={self.slug}", {"iss": self.issuer, "algorithm": "HS256", "secret": self.secret})]
        for path, body in requests:
            status, _, answer = self.instance.send("POST", path, operator, body)
            if status != 201:
                raise Failed(f"{path} was answered with {status}: {answer.decode()[:300]}")

    def make_users(self, first, last):
        """Users without skills."""
        self.instance.psql(file=SQL / "users.sql", tenant=self.id, first=first, last=last)

    def copy(self, first, last, text, source=1):
        """Gives users the skills of another."""
        for start in range(first, last + 1, COPY_AT_ONCE):
            self.instance.psql(file=self.copy_sql(), tenant=self.id, text=text, source=source, first=start,
                               last=min(start + COPY_AT_ONCE - 1, last))

    def copy_sql(self):
        """The base of a comparison brings the one that fits its schema."""
        own = Path(f"{self.instance.program}.copy.sql")
        return own if own.exists() else SQL / "copy.sql"

    def new_creators(self, many, with_skills):
        """So many users who have created nothing yet, with the usual skills or none: each measurement of creating has its own,
        since what is there already makes the next one dearer."""
        first = CREATORS_FIRST + self.created
        self.created += many
        if self.created > MOST_CREATORS:
            raise Failed("there are not so many creators; take fewer rounds")
        self.creators = range(first, first + many)
        self.make_users(first, self.creators[-1])
        if with_skills:
            self.copy(first, self.creators[-1], text=1)

    def make_known(self, users):
        """Has the process know the skills of users, as of those who have asked for one before."""
        connection = http.client.HTTPConnection("127.0.0.1", self.instance.port, timeout=30)
        for number in users:
            status, _, answer = send(connection, "GET", f"/v1/skills?q={quote_plus(self.messages[0])}&limit=1", self.token(number))
            if status != 200:
                raise Failed(f"a search was answered with {status}: {answer.decode()[:300]}")
        connection.close()

    def body_relates(self):
        """Whether the service has the body that creators save read for relations, as those say who have done so."""
        return self.instance.psql("""
            select exists (select from graphile_worker._private_jobs j
                           join graphile_worker._private_tasks t on t.id = j.task_id and t.identifier = 'relate_skills'
                           join skills s on s.user_id::text = j.payload ->> 'user_id' and s.name like 'new-%')""")

    def write_data(self, path, readers, **columns):
        """The Lua file of the scripts. `columns`: what else is known of each reader (etag, session, snapshot)."""
        rows = [{"token": self.token(n)} for n in readers]
        for name, values in columns.items():
            for row, value in zip(rows, values, strict=True):
                row[name] = value
        reader = [f"{{{', '.join(f'{name}={lua(value)}' for name, value in row.items())}}}" for row in rows]
        writer = [f"{{token={json.dumps(self.token(n))}}}" for n in range(self.users + 1, 2 * self.users + 1)]
        creator = [f"{{token={json.dumps(self.token(n))}}}" for n in self.creators]
        skill = [f"{{name={lua(s['name'])}, etag={lua(s['etag'])}, view={lua(mcp.text(*mcp.view(s['name'])))}}}"
                 for s in self.skills]
        refused = [f"{name}={lua(path)}" for name, path in REFUSED.items()]
        path.write_text("return {\n" + ",\n".join([
            *(f"{name} = {{{', '.join(rows)}}}" for name, rows in
              (("readers", reader), ("writers", writer), ("creators", creator), ("skills", skill), ("refused", refused))),
            *(f"{name} = {{{', '.join(map(lua, texts))}}}" for name, texts in
              (("messages", map(quoted, self.messages)), ("queries", map(quote_plus, self.messages)),
               ("words", self.texts.words))),
            f"body = {lua(quoted(self.body))}", f"description = {lua(self.description)}",
            f"skills_list = {lua(mcp.text(*mcp.list_skills()))}"]) + "}\n")

    def etags(self, path, readers):
        """The readers' current entity tags; that of the index changes with each load, since it shows counts."""
        connection = http.client.HTTPConnection("127.0.0.1", self.instance.port, timeout=30)
        etags = [send(connection, "GET", path, self.token(n))[1]["ETag"] for n in readers]
        connection.close()
        return etags

    def sessions(self, readers):
        """A new session for each reader, with room for all turns of a round; their ids."""
        connection = http.client.HTTPConnection("127.0.0.1", self.instance.port, timeout=30)
        terms = {"channel": "sms", "max_turns": 1000}
        opened = [json.loads(send(connection, "POST", "/v1/sessions", self.token(n), terms)[2])["id"] for n in readers]
        connection.close()
        return opened

    def grow(self, first, last):
        """Users with rows for the index alone."""
        self.make_users(GROWTH_FIRST + first, GROWTH_FIRST + last)
        self.copy(GROWTH_FIRST + first, GROWTH_FIRST + last, text=0)
        self.instance.psql("vacuum (analyze) skills, skill_usage, users, user_catalogs, skill_resources")
        self.instance.psql("checkpoint")


def encode(part):
    """Base64url without padding."""
    return base64.urlsafe_b64encode(part).rstrip(b"=").decode()


def quoted(text):
    """A text as it stands between the quotes of a JSON string."""
    return json.dumps(text)[1:-1]


def lua(text):
    """A Lua string."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r") + '"'
