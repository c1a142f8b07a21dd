"""The benchmark's tenant: users, tokens, skills of about 3.3 KB, and the file that the wrk script reads."""

import base64
import hashlib
import hmac
import http.client
import json
import random
import secrets
import time

from . import mcp
from .instance import Failed, ask
from .statements import SQL, render

SLUG = "bench"
GROWTH_FIRST = 100_001
COPY_AT_ONCE = 1000
WORDS = ("agent answer archive budget calendar check customer deploy draft escalate export file follow format header "
         "import index invoice label ledger list mail meeting merge note order page parse plan queue read report "
         "request review rollback route rule schedule search send session sheet skill sort status summary table tag "
         "task template test ticket token trace update upload user validate version warn window write").split()
# What skills are about: a message that asks for one fits it, and not all of them alike.
TOPICS = ("aquarium bakery beehive bicycle bonsai bridge camera candle canoe carpet cello cheese chimney clay compost "
          "curtain falcon fence garden glacier greenhouse harbour hammock honey kayak kettle kiln lantern lighthouse "
          "locksmith marble mosaic mushroom orchard orchid origami parrot pottery pump quilt roof saddle sail sauna "
          "scooter sculpture seaweed skate stove surfboard telescope tent terrace tractor trombone tulip tunnel violin "
          "volcano waffle walnut windmill yoghurt zeppelin").split()


class Tenant:
    """What was seeded, and who may ask for it."""

    def __init__(self, instance, users, skills, slug=SLUG):
        self.instance, self.users, self.slug, self.issuer = instance, users, slug, f"knowhow-{slug}"
        self.secret = secrets.token_hex(32)
        self.words = random.Random(7)
        self.skills = [{"name": f"skill-{k:03}"} for k in range(1, skills + 1)]
        self.body = self.text(3100)
        self.messages = []
        self.description = "Benchmark skill. Use when the speed of the service is measured."

    def text(self, size, topics=("procedure",)):
        """Markdown of about this many bytes, in plain letters, that speaks of its topics."""
        lines, length = ["## Procedure", ""], 0
        while length < size:
            line = f"{len(lines) - 1}. " + " ".join([*self.words.choices(WORDS, k=11), self.words.choice(topics)])
            lines.append(line)
            length += len(line) + 1
        return "\n".join(lines) + "\n"

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
        """Users 1..n read, n+1..2n write, 2n+1..3n create. User 1 is saved through REST, the others are copies of it, up to
        `with_skills` (2n). Where a worker with a model is at work, they have vectors too."""
        self.make_tenant()
        self.instance.psql(render("functions.sql"))
        self.id = self.instance.psql(f"select tenant_id from tenants where slug = '{self.slug}'")
        self.make_users(1, 3 * self.users)
        self.save(1, self.skills, 3100)
        calls = [f"use {skill['name']} for this one, please" for skill in self.skills[:2]]
        wishes = [f"please {' '.join(skill['tags'])} for the office" for skill in self.skills[2:8]]
        self.messages = wishes[:3] + calls[:1] + wishes[3:] + calls[1:]
        self.copy(2, with_skills or 2 * self.users, text=1)
        self.instance.psql("vacuum (analyze)")
        self.instance.psql("checkpoint")

    def save(self, user, skills, size):
        """Saves a user's skills through REST, with bodies of about this many bytes; waits for their vectors."""
        connection = http.client.HTTPConnection("127.0.0.1", self.instance.port, timeout=30)
        token = self.token(user)
        for skill in skills:
            tags = skill["tags"] = self.words.sample(TOPICS, 3)
            status, _, answer = ask(connection, "POST", "/v1/skills", token, {
                "name": skill["name"], "content": self.text(size, tags), "tags": tags, "category": self.words.choice(WORDS),
                "summary": " ".join(self.words.sample(WORDS, 9)), "triggers": [" ".join(tags)],
                "description": f"{' '.join(self.words.choices(WORDS, k=14))}. Use when {' '.join(tags)} are asked for."})
            if status != 201:
                raise Failed(f"seeding through REST was answered with {status}: {answer.decode()[:300]}")
            skill["etag"] = ask(connection, "GET", f"/v1/skills/{skill['name']}/SKILL.md", token)[1]["ETag"]
        connection.close()
        if self.instance.embeds:
            count = f"select count(*) from skill_embeddings where user_id = bench.user_id({user})"
            patiently(lambda: int(self.instance.psql(count)) == len(skills), "the skills of a user got no vectors")

    def make_tenant(self):
        """A tenant with room to grow, without starter skills, whose tokens this program can sign."""
        operator = self.instance.knowhow("token", "--operator", "--user", "bench")
        settings = {"starter_skills": False, "skills_per_user": 1_000_000, "bytes_per_user": 1 << 40}
        requests = [("/v1/admin/tenants", {"slug": self.slug, "name": "Benchmark", "settings": settings}),
                    (f"/v1/admin/issuers?tenant={self.slug}", {"iss": self.issuer, "algorithm": "HS256", "secret": self.secret})]
        for path, body in requests:
            status, _, answer = self.instance.ask("POST", path, operator, body)
            if status != 201:
                raise Failed(f"{path} was answered with {status}: {answer.decode()[:300]}")

    def make_users(self, first, last):
        """Users without skills."""
        self.instance.psql(file=SQL / "users.sql", tenant=self.id, first=first, last=last)

    def copy(self, first, last, text, source=1):
        """Gives users the skills of another."""
        for start in range(first, last + 1, COPY_AT_ONCE):
            self.instance.psql(file=SQL / "copy.sql", tenant=self.id, text=text, source=source, first=start,
                               last=min(start + COPY_AT_ONCE - 1, last))

    def write_data(self, path, readers, **columns):
        """The Lua file of the scripts. `columns`: what else is known of each reader (etag, session, snapshot)."""
        rows = [{"token": self.token(n)} for n in readers]
        for name, values in columns.items():
            for row, value in zip(rows, values, strict=True):
                row[name] = value
        reader = [f"{{{', '.join(f'{name}={lua(value)}' for name, value in row.items())}}}" for row in rows]
        writer = [f"{{token={json.dumps(self.token(n))}}}" for n in range(self.users + 1, 2 * self.users + 1)]
        creator = [f"{{token={json.dumps(self.token(n))}}}" for n in range(2 * self.users + 1, 3 * self.users + 1)]
        skill = [f"{{name={lua(s['name'])}, etag={lua(s['etag'])}, view={lua(mcp.text(*mcp.view(s['name'])))}}}"
                 for s in self.skills]
        body = json.dumps("\n\n" + self.body)[1:-1]
        path.write_text("return {\n" + ",\n".join([
            *(f"{name} = {{{', '.join(rows)}}}" for name, rows in
              (("readers", reader), ("writers", writer), ("creators", creator), ("skills", skill))),
            *(f"{name} = {{{', '.join(map(lua, texts))}}}" for name, texts in
              (("messages", self.messages), ("words", WORDS))),
            f"body = {lua(body)}", f"description = {lua(self.description)}",
            f"skills_list = {lua(mcp.text(*mcp.list_skills()))}"]) + "}\n")

    def etags(self, path, readers):
        """The readers' current entity tags; that of the index changes with each load, since it shows counts."""
        connection = http.client.HTTPConnection("127.0.0.1", self.instance.port, timeout=30)
        etags = [ask(connection, "GET", path, self.token(n))[1]["ETag"] for n in readers]
        connection.close()
        return etags

    def sessions(self, readers):
        """A new session for each reader, with room for all turns of a round; their ids."""
        connection = http.client.HTTPConnection("127.0.0.1", self.instance.port, timeout=30)
        terms = {"channel": "sms", "max_turns": 1000}
        opened = [json.loads(ask(connection, "POST", "/v1/sessions", self.token(n), terms)[2])["id"] for n in readers]
        connection.close()
        return opened

    def grow(self, first, last):
        """Users with rows for the index alone."""
        self.make_users(GROWTH_FIRST + first, GROWTH_FIRST + last)
        self.copy(GROWTH_FIRST + first, GROWTH_FIRST + last, text=0)
        self.instance.psql("vacuum (analyze) skills, skill_usage, users, user_catalogs, skill_resources")
        self.instance.psql("checkpoint")


def patiently(is_done, complaint, seconds=120):
    """Waits for what is done in the background."""
    until = time.monotonic() + seconds
    while not is_done():
        if time.monotonic() > until:
            raise Failed(complaint)
        time.sleep(0.5)


def encode(part):
    """Base64url without padding."""
    return base64.urlsafe_b64encode(part).rstrip(b"=").decode()


def lua(text):
    """A Lua string."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r") + '"'
