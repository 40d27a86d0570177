// Buttons that copy a text.

function copyButton(label, text) {
  if (!text) return null;
  const button = el("button", { type: "button", class: "copy", click: async () => {
    const done = await copied(text);
    said.textContent = done ? "Copied" : "Not copied: the browser refuses it";
    setTimeout(() => { said.textContent = ""; }, 3000);
  } }, label);
  const said = el("span", { "aria-live": "polite", class: "quiet" });
  return [button, said];
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedBySelection(text);
  }
}

// Browsers without the clipboard interface, or that do not give it to local files.
function copiedBySelection(text) {
  const area = el("textarea", { class: "unseen", "aria-hidden": "true" });
  const focused = document.activeElement;
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  focused?.focus();
  return done;
}
