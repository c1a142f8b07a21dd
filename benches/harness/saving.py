"""How soon a saved skill has its vector, while another tenant imports many."""

import http.client
import io
import json
import statistics
import threading
import time
import zipfile

from tools.caller import send
from tools.settings import Failed
from tools.waiting import until

from .quiet import disturbances
from .samples import Samples
from .seed import BODY_BYTES, Tenant
from .table import heading, surroundings

# As `knowhow import` sends them: 400 files in a request.
IMPORTED, PORTION = 2000, 400
PER_SECOND, USERS = 5, 20
GOAL_MS = 2000
# Both are the service's clock: when the save was written, and when its vector was put.
TOOK = """select 1000 * extract(epoch from e.updated_at - s.updated_at)
    from skills s join skill_embeddings e using (tenant_id, user_id, skill_id)
    where s.tenant_id = '{tenant}'"""


def saving_run(instance, options, say):
    """This alone; returns the page and the document."""
    if not options.model:
        raise Failed("this needs the local model: KNOWHOW_MODEL_DIR")
    say("  database and service")
    instance.create()
    instance.start("--with-worker", KNOWHOW_MODEL_DIR=options.model)
    document = {**surroundings(instance, options), "disturbed": disturbances(options.load_average, Samples()),
                "saving": saving(instance, options, say)}
    instance.trim_log()
    if instance.errors:
        raise Failed(f"the service logged errors: {instance.errors[0]}")
    return heading(document, "saves beside an import") + "\n".join(lines(document["saving"])) + "\n", document


def saving(instance, options, say):
    """Saves at a steady rate from before the import until its last vector is there."""
    count = 100 if options.quick else IMPORTED
    say(f"  saves, {PER_SECOND} a second, while another tenant imports {count:,} skills")
    persons, importer = (Tenant(instance, 1, 0, options.texts.again(), slug) for slug in ("persons", "importer"))
    for tenant in (persons, importer):
        tenant.make_tenant()
        tenant.id = instance.psql(f"select tenant_id from tenants where slug = '{tenant.slug}'")
    over, broken = threading.Event(), []
    saves = threading.Thread(target=save_steadily, args=(instance, persons, over, broken))
    saves.start()
    try:
        began = time.monotonic()
        import_all(instance, importer, count)
        answered = time.monotonic() - began
        # A few of the real texts wait for a review: no skills yet, and without a vector.
        imported = int(instance.psql(f"select count(*) from skills where tenant_id = '{importer.id}'"))
        vectors = f"select count(*) from skill_embeddings where tenant_id = '{importer.id}'"
        until("the vectors of the import", lambda: broken or int(instance.psql(vectors)) == imported, 600)
        done = time.monotonic() - began
    finally:
        over.set()
        saves.join()
    if broken:
        raise Failed(broken[0])
    saved = f"select count(*) from skills where tenant_id = '{persons.id}'"
    took = TOOK.format(tenant=persons.id)
    until("the vectors of saves", lambda: instance.psql(f"select count(*) from ({took}) t") == instance.psql(saved))
    took = sorted(float(line) for line in instance.psql(took).splitlines())
    cuts = statistics.quantiles(took, n=100)
    revision = int(instance.psql(f"select max(revision) from user_catalogs where tenant_id = '{importer.id}'"))
    say(f"    vectors after p50 {cuts[49]:.0f} ms, p99 {cuts[98]:.0f} ms, the last {took[-1]:.0f} ms")
    return {"imported": imported, "saves": len(took), "p50_ms": cuts[49], "p99_ms": cuts[98], "max_ms": took[-1],
            "import_answered_s": answered, "import_vectors_s": done, "revisions_beside_saves": revision - imported}


def save_steadily(instance, tenant, over, broken):
    """One new skill after another, each of the next of some users, whatever the answers take."""
    connection = http.client.HTTPConnection("127.0.0.1", instance.port, timeout=30)
    tokens, number, began = [tenant.token(n) for n in range(1, USERS + 1)], 0, time.monotonic()
    while not over.is_set():
        time.sleep(max(0, began + number / PER_SECOND - time.monotonic()))
        status, _, answer = send(connection, "POST", "/v1/skills", tokens[number % USERS],
                                {"name": f"saved-{number}", **text_of(tenant)})
        # A few of the real texts wait for a review, which is none of this.
        if status not in (201, 202):
            broken.append(f"a save was answered with {status}: {answer.decode()[:300]}")
            return
        number += 1
    connection.close()


def import_all(instance, tenant, count):
    """Everything as one user, in zips as large as the service takes."""
    for first in range(0, count, PORTION):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for number in range(first, min(first + PORTION, count)):
                text = text_of(tenant)
                head = f"name: imported-{number}\ndescription: {json.dumps(text['description'])}"
                archive.writestr(f"imported-{number}/SKILL.md", f"---\n{head}\n---\n\n{text['content']}")
        status, answer = upload(instance, tenant.token(1), packed.getvalue())
        if status != 200 or json.loads(answer)["failed"]:
            raise Failed(f"the import was answered with {status}: {answer[:300]}")


def upload(instance, token, packed):
    """One archive as a form."""
    mark = "knowhow-bench-part"
    head = f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="skills.zip"\r\n\r\n'
    body = head.encode() + packed + f"\r\n--{mark}--\r\n".encode()
    connection = http.client.HTTPConnection("127.0.0.1", instance.port, timeout=300)
    connection.request("POST", "/v1/skills/import", body, {"Authorization": f"Bearer {token}",
                                                           "Content-Type": f"multipart/form-data; boundary={mark}"})
    answer = connection.getresponse()
    status, text = answer.status, answer.read().decode()
    connection.close()
    return status, text


def text_of(tenant):
    """The next text of about 3 KB, new to its tenant."""
    text = tenant.texts.skill(BODY_BYTES)
    return {"description": text["description"], "content": text["content"]}


def lines(measured):
    """The lines of the page."""
    verdict = "met" if measured["p99_ms"] <= GOAL_MS else "missed"
    return [f"**A saved skill has its vector** after p50 {measured['p50_ms']:.0f} ms, p99 {measured['p99_ms']:.0f} ms, the last of "
            f"{measured['saves']:,} after {measured['max_ms']:.0f} ms (goal: p99 {GOAL_MS:,} ms: {verdict}), {PER_SECOND} saves a "
            f"second by {USERS} users while another tenant imports {measured['imported']:,} skills: answered after "
            f"{measured['import_answered_s']:.0f} s, all vectors after {measured['import_vectors_s']:.0f} s in "
            f"{measured['revisions_beside_saves']} new revisions of its catalogue."]
