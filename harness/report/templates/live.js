// Only in the page that `lockstep view` serves: asks for the newest event's id, and for the page again when it changes.
(() => {
  "use strict";
  const EVERY = 2000;
  const root = document.documentElement;
  const note = document.getElementById("live");
  note.hidden = false;

  const say = (text) => {
    if (note.textContent !== text) note.textContent = text;
  };

  // What a reader has done to the page, by ids that the next version of it has too.
  function kept() {
    const fields = Array.from(document.querySelectorAll("#filters [id]")).filter((each) => "value" in each);
    // What stays where it is while the page above it grows: what has the focus, or else the first thing in sight.
    const inSight = (each) => {
      const { top, height } = each.getBoundingClientRect();
      return height > 0 && top >= 0 && top < window.innerHeight;
    };
    const focused = document.activeElement && document.activeElement.closest("main [id]");
    const first = [focused, ...document.querySelectorAll("main [id]")].find((each) => each && inSight(each));
    return {
      fields: fields.map((each) => [each.id, each.type === "checkbox" ? each.checked : each.value]),
      open: Array.from(document.querySelectorAll("main details[open][id]"), (each) => each.id),
      focus: focused && focused.id,
      anchor: first ? [first.id, first.getBoundingClientRect().top] : null,
    };
  }

  function restore(state) {
    const by = (id) => document.getElementById(id);
    for (const [id, value] of state.fields) {
      const each = by(id);
      if (each && each.type === "checkbox") each.checked = value;
      else if (each && each.tagName !== "OUTPUT") each.value = value;
    }
    for (const id of state.open) if (by(id)) by(id).open = true;
    document.dispatchEvent(new Event("lockstep:renewed"));
    const target = state.focus && by(state.focus);
    if (target) (target.tagName === "DETAILS" ? target.querySelector("summary") : target).focus({ preventScroll: true });
    const anchor = state.anchor && by(state.anchor[0]);
    if (anchor) window.scrollBy({ top: anchor.getBoundingClientRect().top - state.anchor[1], behavior: "instant" });
  }

  async function renew() {
    const answer = await fetch("./", { cache: "no-store" });
    if (!answer.ok) throw new Error(answer.status);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const state = kept();
    document.querySelector("main").replaceChildren(...page.querySelector("main").childNodes);
    document.title = page.title;
    root.dataset.stamp = page.documentElement.dataset.stamp;
    restore(state);
  }

  async function look() {
    try {
      const answer = await fetch("stamp", { cache: "no-store" });
      if (!answer.ok) throw new Error(answer.status);
      if ((await answer.text()) !== root.dataset.stamp) await renew();
      say("live");
    } catch {
      say("no longer live: the view has ended or cannot read the record");
    }
    setTimeout(look, EVERY);
  }
  setTimeout(look, EVERY);
})();
