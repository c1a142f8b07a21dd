// What a user does, through the client that @hey-api/openapi-ts has generated.
import { archive, check, env } from "./common";
import { client } from "./hey/client.gen";
import { deleteSkill, exportSkills, getResource, importSkills, listSkills, loadSkill } from "./hey";

const NAME = "client-hey";

async function main() {
  check(client.getConfig().baseUrl === "http://127.0.0.1:8080", "the document names no server");
  client.setConfig({ baseUrl: env.KNOWHOW_URL, auth: (by) => (by.scheme === "bearer" ? env.KNOWHOW_TOKEN : undefined) });

  const upload = new File([archive(NAME)], `${NAME}.zip`, { type: "application/zip" });
  const imported = await importSkills({ body: { files: [upload] } });
  check(imported.data?.created === 1, imported);

  const page = await listSkills({ query: { prefix: NAME } });
  check(page.data?.items[0]?.name === NAME, page);

  const resource = await getResource({ path: { skill: NAME, path: "references/a.md" }, parseAs: "blob" });
  check((await resource.data!.text()) === `alpha of ${NAME}\n`, resource);

  const exported = await exportSkills();
  check(new Uint8Array(await exported.data!.arrayBuffer())[0] === 0x50, exported);

  const deleted = await deleteSkill({ path: { skill: NAME } });
  check(deleted.response?.status === 204, deleted);
  const gone = await loadSkill({ path: { skill: NAME } });
  check(gone.error?.type === "/problems/not-found", gone);
  console.log("@hey-api/openapi-ts: import, list, resources, export, delete");
}

void main();
