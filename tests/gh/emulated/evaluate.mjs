// GitHub's own evaluator: node evaluate.mjs NODE_MODULES. A line of input is {contexts, failed, value}; its answer is a
// line {value} with each ${{ }} replaced, or {error}.
// A text that is one expression becomes its value; in `if:`, a text without ${{ }} is an expression, and without a
// status function it needs a job that has not failed.
import { registerHooks } from "node:module";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

registerHooks({
  load: (url, context, next) =>
    next(url, url.endsWith(".json") ? { ...context, importAttributes: { type: "json" } } : context),
});

const [modules] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(`${modules}/@actions/expressions/dist/${name}`).href);
const { Lexer, Parser, Evaluator, data } = await load("index.js");

function answer({ contexts, failed, value }) {
  const known = JSON.parse(JSON.stringify(contexts), data.reviver);

  const status = { always: true, success: !failed, failure: failed, cancelled: false };
  const functions = Object.entries(status).map(([name, is]) => ({
    name, minArgs: 0, maxArgs: 0, call: () => new data.BooleanData(is),
  }));
  const byName = new Map(functions.map((one) => [one.name, one]));

  function evaluate(text) {
    const { tokens } = new Lexer(text).lex();
    const parsed = new Parser(tokens, Object.keys(contexts), functions).parse();
    return new Evaluator(parsed, known, byName).evaluate();
  }

  function plain(found) {
    return JSON.parse(JSON.stringify(found, data.replacer));
  }

  function fill(text) {
    const whole = /^\s*\$\{\{((?:(?!\}\})[^])*)\}\}\s*$/.exec(text);
    if (whole) return plain(evaluate(whole[1]));
    return text.replace(/\$\{\{([^]*?)\}\}/g, (_, inner) => evaluate(inner).coerceString());
  }

  function condition(text) {
    const inner = /^\s*\$\{\{([^]*)\}\}\s*$/.exec(text)?.[1] ?? text;
    const asked = /\b(always|success|failure|cancelled)\(\)/.test(inner) ? inner : `success() && (${inner})`;
    const found = plain(evaluate(asked));
    return !(found === false || found === null || found === 0 || found === "");
  }

  function walk(node, key) {
    if (key === "if") return condition(String(node));
    if (typeof node === "string") return fill(node);
    if (Array.isArray(node)) return node.map((one) => walk(one));
    if (node && typeof node === "object") return Object.fromEntries(Object.entries(node).map(([k, v]) => [k, walk(v, k)]));
    return node;
  }

  return walk(value);
}

for await (const line of createInterface({ input: process.stdin })) {
  let said;
  try {
    said = { value: answer(JSON.parse(line)) };
  } catch (error) {
    said = { error: String(error) };
  }
  console.log(JSON.stringify(said));
}
