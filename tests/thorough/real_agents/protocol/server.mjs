// Offers one of everything: `node server.mjs OLD|NEW CARRIER PORT`, by the SDK of before or since 2026-07-28.
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
const [age, carrier, port] = process.argv.slice(2);
const isNew = age === "new";
const load = (old, own) => import(isNew ? own : `@modelcontextprotocol/sdk/${old}.js`);
const sdk = await load("server/mcp", "@modelcontextprotocol/server");
const { completable } = isNew ? sdk : await load("server/completable");
const { z } = await import("zod");
const form = { type: "object", properties: { sure: { type: "boolean" } }, required: ["sure"] };

const { InMemoryTaskStore } = isNew ? {} : await load("experimental/tasks/stores/in-memory");

function make() {
  const tasks = isNew ? {} : { tasks: { requests: { tools: { call: {} } } } };
  const capabilities = { tools: { listChanged: true }, ...tasks };
  const taskStore = isNew ? undefined : new InMemoryTaskStore();
  const server = new sdk.McpServer({ name: "shelf", version: "1" }, { capabilities, taskStore });
  const say = (text, more = {}) => ({ content: [{ type: "text", text }], ...more });
  const tool = (name, shape, run) => server.registerTool(name, { inputSchema: isNew ? z.object(shape) : shape }, run);
  tool("add", { title: z.string() }, async ({ title }) => {
    if (title === "refuse") return say("no such title", { isError: true });
    return say(title, { structuredContent: { items: [title] } });
  });
  tool("wait", { seconds: z.number() }, async ({ seconds }, context) => {
    const { progressToken } = (isNew ? context.mcpReq : context)._meta ?? {};
    const notify = isNew ? context.mcpReq.notify : context.sendNotification;
    const params = { progressToken, progress: 0, total: 1 };
    if (progressToken !== undefined) await notify({ method: "notifications/progress", params });
    await sleep(seconds * 1000);
    return say("waited");
  });
  tool("grow", {}, async () => (server.sendToolListChanged(), say("grown")));
  tool("clear", {}, async (_, context) => {
    if (!isNew) return say((await server.server.elicitInput({ message: "?", requestedSchema: form })).action);
    const told = context.mcpReq.inputResponses?.ask;
    const ask = sdk.inputRequired.elicit({ message: "?", requestedSchema: form });
    return told ? say(told.action) : sdk.inputRequired({ inputRequests: { ask } });
  });
  const createTask = async (_, { taskStore }) => {
    const task = await taskStore.createTask({ ttl: 60_000, pollInterval: 50 });
    setTimeout(() => taskStore.storeTaskResult(task.taskId, "completed", say("ground")), 100);
    return { task };
  };
  const getTask = (_, { taskStore, taskId }) => taskStore.getTask(taskId);
  const getTaskResult = (_, { taskStore, taskId }) => taskStore.getTaskResult(taskId);
  const execution = { taskSupport: "optional" };
  const handler = { createTask, getTask, getTaskResult };
  if (!isNew) server.experimental.tasks.registerToolTask("grind", { inputSchema: {}, execution }, handler);
  const items = async (uri) => ({ contents: [{ uri: uri.href, text: "{}" }] });
  server.registerResource("items", "shelf://items", {}, items);
  const name = completable(z.string(), (value) => [`${value}nna`]);
  const greet = ({ name }) => ({ messages: [{ role: "user", content: { type: "text", text: name } }] });
  server.registerPrompt("greet", { argsSchema: isNew ? z.object({ name }) : { name } }, greet);
  return server;
}

if (carrier === "stdio" && isNew) {
  (await import("@modelcontextprotocol/server/stdio")).serveStdio(make);
} else if (carrier === "stdio") {
  const { StdioServerTransport } = await load("server/stdio");
  await make().connect(new StdioServerTransport());
} else if (isNew) {
  const { toNodeHandler } = await import("@modelcontextprotocol/node");
  createServer(toNodeHandler(sdk.createMcpHandler(make))).listen(port, "127.0.0.1");
} else {
  const { SSEServerTransport } = await load("server/sse");
  const { StreamableHTTPServerTransport } = await load("server/streamableHttp");
  const open = new Map();
  createServer(async (asked, answer) => {
    const url = new URL(asked.url, "http://localhost");
    if (carrier === "sse" && asked.method === "GET") {
      const way = new SSEServerTransport("/messages", answer);
      open.set(way.sessionId, way);
      return make().connect(way);
    }
    if (carrier === "sse") return open.get(url.searchParams.get("sessionId")).handlePostMessage(asked, answer);
    let way = open.get(asked.headers["mcp-session-id"]);
    if (!way) {
      const onsessioninitialized = (id) => open.set(id, way);
      way = new StreamableHTTPServerTransport({ sessionIdGenerator: () => crypto.randomUUID(), onsessioninitialized });
      await make().connect(way);
    }
    await way.handleRequest(asked, answer);
  }).listen(port, "127.0.0.1");
}
