// The data of the page: the result, opened at once, and the records of trials, opened when they are asked for.

let data;
let blocks = null; // parsed when the first record is asked for: they are most of the file
let opened = { block: null, records: null }; // the block that was read last

const raw = (id) => document.getElementById(id).textContent;

async function unpacked(text) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let place = 0; place < letters.length; place++) bytes[place] = letters.charCodeAt(place); // Uint8Array.from is 15 times slower
  const inflated = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(inflated).text());
}

async function record(id) {
  blocks ??= JSON.parse(raw("records"));
  const block = blocks.find(([ids]) => ids.includes(id));
  if (!block) return null;
  if (opened.block !== block) opened = { block, records: await unpacked(block[1]) };
  const found = opened.records[id];
  for (const step of found?.steps || []) step.same ??= step.title;
  for (const call of found?.calls || []) call.same ??= [call.command, call.message];
  return found;
}

const trialId = (row, side, index) => `${side}/${row.path}/${index}`;
