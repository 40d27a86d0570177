// GitHub's own language service on workflow files and action.yml: node validate_workflows.mjs NODE_MODULES ACTION_YML FILE…
// Prints one line for each finding; `uses:` of our own action is checked against ACTION_YML, that of others is not.
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";

registerHooks({
  load: (url, context, next) =>
    next(url, url.endsWith(".json") ? { ...context, importAttributes: { type: "json" } } : context),
});

const [modules, actionFile, ...files] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(`${modules}/${name}`).href);
const { validate } = await load("@actions/languageservice/dist/index.js");
const { TextDocument } = await load("vscode-languageserver-textdocument/lib/esm/main.js");
const { parse } = await load("yaml/dist/index.js");

const ours = parse(readFileSync(actionFile, "utf8"));
const isOurs = (action) => action.name === "tidegate" || action.name.startsWith("tidegate/");
const actionsMetadataProvider = {
  fetchActionMetadata: async (action) => (isOurs(action) ? ours : { name: action.name, description: "another's" }),
};

// Reusable workflows of ours are read beside ACTION_YML, whatever commit is named.
const fileProvider = {
  getFileContent: async (file) => ({
    name: file.path,
    content: readFileSync(`${dirname(actionFile)}/${file.path}`, "utf8"),
  }),
};

const anothers = (message) => message.startsWith("Invalid action input");
for (const file of files) {
  const text = readFileSync(file, "utf8");
  const document = TextDocument.create(pathToFileURL(file).href, "yaml", 1, text);
  for (const found of await validate(document, { actionsMetadataProvider, fileProvider })) {
    const line = text.split("\n")[found.range.start.line];
    if (anothers(found.message) && !usesOurs(text, found.range.start.line)) continue;
    console.log(`${file}:${found.range.start.line + 1}: ${found.message}: ${line.trim()}`);
  }
}

// Whether the step that a line of `with:` belongs to uses our action: the nearest `uses:` above it.
function usesOurs(text, number) {
  const above = text.split("\n").slice(0, number + 1).reverse();
  return /tidegate/.test(above.find((line) => line.includes("uses:")) ?? "");
}
