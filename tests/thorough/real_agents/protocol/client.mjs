// Uses one of everything that a server offers: `node client.mjs VERSION CARRIER WHERE…`.
const [version, carrier, ...where] = process.argv.slice(2);
const isNew = version >= "2026";
const load = (old, own) => import(isNew ? own : `@modelcontextprotocol/sdk/${old}.js`);
const { Client } = await load("client/index", "@modelcontextprotocol/client");
const { StdioClientTransport } = await load("client/stdio", "@modelcontextprotocol/client/stdio");
const { StreamableHTTPClientTransport } = await load("client/streamableHttp", "@modelcontextprotocol/client");
const options = { capabilities: { elicitation: {} }, ...(isNew ? { versionNegotiation: { mode: "auto" } } : {}) };
const client = new Client({ name: "tester", version: "1" }, options);
const agree = async () => ({ action: "accept", content: { sure: true } });
if (isNew) {
  client.setRequestHandler("elicitation/create", agree);
} else {
  const { ElicitRequestSchema } = await import("@modelcontextprotocol/sdk/types.js");
  client.setRequestHandler(ElicitRequestSchema, agree);
  const request = client.request.bind(client);
  client.request = async (message, ...rest) => {
    const isFirst = message.method === "initialize";
    if (isFirst) message.params.protocolVersion = version;
    const result = await request(message, ...rest);
    if (isFirst) console.log(result.protocolVersion);
    return result;
  };
}
const { SSEClientTransport } = await load("client/sse", "@modelcontextprotocol/client");
const ways = {
  stdio: () => new StdioClientTransport({ command: where[0], args: where.slice(1) }),
  sse: () => new SSEClientTransport(new URL(where[0])),
  http: () => new StreamableHTTPClientTransport(new URL(where[0])),
};
await client.connect(ways[carrier]());
if (isNew) console.log(client.getNegotiatedProtocolVersion());
const tell = (what, result) => console.log(what, JSON.stringify(result));
const listed = await client.listTools();
tell("tools", listed);
tell("call", await client.callTool({ name: "add", arguments: { title: "Emma" } }));
tell("refused", await client.callTool({ name: "add", arguments: { title: "refuse" } }));
const onprogress = ({ progress, total }) => console.log("progress", progress, total);
const slow = { name: "wait", arguments: { seconds: 0.1 } };
tell("slow", await client.callTool(slow, ...(isNew ? [{ onprogress }] : [undefined, { onprogress }])));
const signal = AbortSignal.timeout(500);
const waiting = { name: "wait", arguments: { seconds: 20 } };
const given = isNew ? [{ signal }] : [undefined, { signal }];
await client.callTool(waiting, ...given).then(() => 0, () => console.log("given up"));
if (version >= "2025-06") tell("asked", await client.callTool({ name: "clear", arguments: {} }));
tell("read", await client.readResource({ uri: "shelf://items" }));
tell("prompt", await client.getPrompt({ name: "greet", arguments: { name: "Ann" } }));
const asked = { ref: { type: "ref/prompt", name: "greet" }, argument: { name: "name", value: "A" } };
tell("complete", await client.complete(asked));
if (version === "2025-11-25" && listed.tools.some(({ name }) => name === "grind")) {
  const grinding = client.experimental.tasks.callToolStream({ name: "grind" }, undefined, { task: { ttl: 60_000 } });
  for await (const { type, result } of grinding) if (result) tell(type, result.content);
}
let changed;
if (!isNew) {
  const { ToolListChangedNotificationSchema } = await import("@modelcontextprotocol/sdk/types.js");
  changed = new Promise((resolve) => client.setNotificationHandler(ToolListChangedNotificationSchema, resolve));
}
tell("grow", await client.callTool({ name: "grow", arguments: {} }));
await Promise.race([changed, new Promise((resolve) => setTimeout(resolve, 10_000))]);
await client.close();
process.exit(0);
