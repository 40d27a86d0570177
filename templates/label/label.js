// One criterion of one trial at a time. What the judge thinks is not told, and which side it was neither.

const KEYS = { y: "met", n: "unmet", s: "skip", b: "back" };
let place = 0;
let of = 1; // the first answer says how many there are

async function ask() {
  const main = document.getElementById("main");
  if (place >= of) {
    main.replaceChildren(el("h1", null, "Nothing is left"), el("p", null, "Every answer is kept. "), buttons([["back", "Back (b)"]]), done());
    return;
  }
  const said = await (await fetch(`questions/${place}`)).json();
  of = said.of;
  main.replaceChildren(
    el("p", { class: "quiet", role: "status" }, `${place + 1} of ${of} · ${said.name}`),
    el("h1", null, said.criterion),
    el("p", { class: "lead" }, said.description),
    buttons([["met", "Met (y)"], ["unmet", "Not met (n)"], ["skip", "Skip (s)"], ["back", "Back (b)"]], said.verdict),
    section("Task", el("pre", null, said.task)),
    section("What the agent did", el("pre", { id: "story" }, said.story)),
    done());
  scrollTo(0, 0);
  main.focus({ preventScroll: true });
}

function buttons(answers, chosen) {
  return el("p", { class: "tools" }, answers.map(([answer, label]) =>
    el("button", { type: "button", class: "chip", "aria-pressed": answer === chosen ? "true" : null, click: () => given(answer) }, label)));
}

const done = () => el("p", null, el("button", { type: "button", click: finish }, "Done"));

async function given(answer) {
  if (answer === "met" || answer === "unmet") {
    const kept = await send(`questions/${place}`, { verdict: answer });
    if (!kept.ok) return failed();
  }
  place = Math.max(0, place + (answer === "back" ? -1 : 1));
  await ask();
}

async function finish() {
  await send("done", {});
  document.getElementById("main").replaceChildren(el("h1", null, "Done"), el("p", null, "The terminal says what comes next; this page can be closed."));
}

const send = (path, body) => fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

function failed() {
  document.getElementById("main").prepend(el("p", { role: "alert" }, "The answer could not be kept: is `tidegate label` still running?"));
}

addEventListener("keydown", (event) => {
  const answer = KEYS[event.key];
  if (!answer || event.ctrlKey || event.metaKey || event.altKey) return;
  if (place < of || answer === "back") given(answer).catch(failed);
});
ask().catch(failed);
