// How far the estimate of a tool list's tokens is from real tokenizers, whose tables come with their npm packages.
//
//   npm install gpt-tokenizer @anthropic-ai/tokenizer
//   node context_tokens.mjs LIST.json…     each a file with an answer to tools/list: {"tools": […]}
//
// The estimate is that of src/tidegate/decide/surface: the bytes of the name, title, description and input schema.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const BYTES_PER_TOKEN = 4.4;
const local = createRequire(`${process.cwd()}/`);
const { encode } = local("gpt-tokenizer/encoding/o200k_base");
const { countTokens } = local("@anthropic-ai/tokenizer");
const COUNTERS = { o200k_base: (text) => encode(text).length, "claude (2023)": countTokens };

const given = ({ name, title, description, inputSchema }) => JSON.stringify({ name, title, description, inputSchema });
const lists = process.argv.slice(2).map((path) => [path, JSON.parse(readFileSync(path, "utf8")).tools.map(given)]);
for (const [counter, count] of Object.entries(COUNTERS)) {
  const errors = [];
  for (const [path, texts] of lists) {
    const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    const real = texts.reduce((sum, text) => sum + count(text), 0);
    errors.push(...texts.map((text) => Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN) / count(text) - 1));
    const off = (100 * (bytes / BYTES_PER_TOKEN / real - 1)).toFixed(1);
    console.log(`${counter}: ${path}: ${texts.length} tools, ${bytes} bytes, ${real} tokens, ${(bytes / real).toFixed(2)} each, estimate ${off} %`);
  }
  errors.sort((one, other) => one - other);
  const at = (share) => (100 * errors[Math.floor(share * (errors.length - 1))]).toFixed(0);
  console.log(`${counter}: single tools: from ${at(0)} to ${at(1)} %, median ${at(0.5)} %`);
}
