// What clients do with a skill through the official SDK for Node.js, which knows the revision of 2025 alone.
const assert = require("node:assert");
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StreamableHTTPClientTransport } = require("@modelcontextprotocol/sdk/client/streamableHttp.js");
const { LATEST_PROTOCOL_VERSION } = require("@modelcontextprotocol/sdk/types.js");

const { KNOWHOW_URL, KNOWHOW_TOKEN } = process.env;
const name = "older/weather-report";

async function main() {
  const transport = new StreamableHTTPClientTransport(new URL(`${KNOWHOW_URL}/mcp`), {
    requestInit: { headers: { Authorization: `Bearer ${KNOWHOW_TOKEN}` } },
  });
  const client = new Client({ name: "older", version: "1" });
  await client.connect(transport);
  assert.equal(LATEST_PROTOCOL_VERSION, "2025-11-25");
  assert.equal(transport.protocolVersion, "2025-11-25");
  assert.equal(transport.sessionId, undefined);
  assert.equal(client.getServerVersion().name, "knowhow");
  assert.ok(client.getInstructions());
  await client.ping();

  const { tools } = await client.listTools();
  assert.equal(tools.length, 13);
  const call = async (tool, args) => {
    const result = await client.callTool({ name: tool, arguments: args });
    assert.ok(!result.isError, JSON.stringify(result));
    return result.structuredContent;
  };
  const content = "## Procedure\n\n1. Look out of the window.\n";
  assert.equal((await call("skill_save", { name, description: "Report the weather.", content })).version, 1);
  const viewed = await client.callTool({ name: "skill_view", arguments: { name } });
  assert.ok(viewed.content[0].text.endsWith(content) && !viewed.structuredContent);
  assert.equal(viewed._meta["dev.knowhow/answer"].version, 1);

  const uri = `skill://${name}/SKILL.md`;
  const { contents } = await client.readResource({ uri });
  assert.equal(contents[0].mimeType, "text/markdown");
  assert.ok(contents[0].text.startsWith("---\nname: weather-report\n") && contents[0].text.endsWith(content));
  const resources = [];
  for (let cursor, page; !page || cursor; cursor = page.nextCursor) {
    page = await client.listResources({ cursor });
    resources.push(...page.resources);
  }
  assert.ok(resources.some((resource) => resource.uri === uri));
  const { messages } = await client.getPrompt({ name: "skills-index" });
  assert.ok(messages[0].content.text.includes(name));

  await call("skill_delete", { name });
  await assert.rejects(client.readResource({ uri }), /-32602|-32002/);
  const gone = await client.callTool({ name: "skill_view", arguments: { name } });
  assert.ok(gone.isError && gone.content[0].text);
  await client.close();
  console.log(`node client, ${transport.protocolVersion}: save, view, read, prompt, delete`);
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
