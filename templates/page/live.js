// Reloads the page when the stored run has changed. Only `tidegate view --watch` adds this file.

const EVERY = 2000; // ms

async function follow(seen) {
  const answer = await fetch("state").catch(() => null);
  const state = answer?.ok ? await answer.text() : seen;
  if (seen && state !== seen) return location.reload();
  setTimeout(() => follow(seen || state), EVERY);
}

follow("");
