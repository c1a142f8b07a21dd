// What a user does, through openapi-fetch with the types that openapi-typescript has generated.
import createClient from "openapi-fetch";
import { archive, check, env } from "./common";
import type { paths } from "./schema";

const NAME = "client-fetch";
const client = createClient<paths>({
  baseUrl: env.KNOWHOW_URL,
  headers: { Authorization: `Bearer ${env.KNOWHOW_TOKEN}` },
});

async function main() {
  const form = new FormData();
  form.append("files", new Blob([archive(NAME)]), `${NAME}.zip`);
  // These types take bytes for texts; the form is what is sent.
  const imported = await client.POST("/v1/skills/import", { body: { files: [] }, bodySerializer: () => form });
  check(imported.data?.created === 1, imported);

  const page = await client.GET("/v1/skills", { params: { query: { prefix: NAME } } });
  check(page.data?.items[0]?.name === NAME, page);

  const at = { skill: NAME, path: "references/a.md" };
  const resource = await client.GET("/v1/skills/{skill}/resources/{path}", { params: { path: at }, parseAs: "text" });
  check(resource.data === `alpha of ${NAME}\n`, resource);

  const exported = await client.GET("/v1/skills/export", { parseAs: "arrayBuffer" });
  check(new Uint8Array(exported.data!)[0] === 0x50, exported);

  const deleted = await client.DELETE("/v1/skills/{skill}", { params: { path: { skill: NAME } } });
  check(deleted.response.status === 204, deleted);
  const gone = await client.GET("/v1/skills/{skill}", { params: { path: { skill: NAME } } });
  check(gone.error?.type === "/problems/not-found", gone);
  console.log("openapi-typescript: import, list, resources, export, delete");
}

void main();
