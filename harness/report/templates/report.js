// Filters, links into closed attempts, the theme, and the keys j and k. Nothing here asks for anything from anywhere.
(() => {
  "use strict";
  const root = document.documentElement;
  const all = (selector) => Array.from(document.querySelectorAll(selector));
  const field = (name) => document.getElementById("filter-" + name);

  const themes = ["system", "light", "dark"];
  const theme = document.getElementById("theme");
  theme.hidden = false;
  theme.addEventListener("click", () => {
    const next = themes[(themes.indexOf(root.dataset.theme || "system") + 1) % themes.length];
    if (next === "system") delete root.dataset.theme;
    else root.dataset.theme = next;
    theme.textContent = "Theme: " + next;
  });

  // The list may be replaced while the page is live, so everything is looked up when it is needed.
  function filter() {
    const form = document.getElementById("filters");
    if (!form) return;
    form.hidden = false;
    const wanted = { level: field("level").value, outcome: field("outcome").value, module: field("module").value };
    const text = field("text").value.trim().toLowerCase();
    const commits = field("commits").checked;
    let shown = 0;
    const rows = all(".attempt");
    for (const row of rows) {
      const fits =
        Object.entries(wanted).every(([name, value]) => value === "" || row.dataset[name] === value) &&
        (!commits || "commit" in row.dataset) &&
        (text === "" || row.textContent.toLowerCase().includes(text));
      row.hidden = !fits;
      shown += fits ? 1 : 0;
    }
    const said = shown + " of " + rows.length + " attempts";
    const count = document.getElementById("filter-count");
    if (count.textContent !== said) count.textContent = said;
  }

  function clear() {
    for (const name of ["level", "outcome", "module", "text"]) field(name).value = "";
    field("commits").checked = false;
    filter();
  }

  function go(id, focus) {
    const target = id && document.getElementById(id);
    if (!target) return;
    const row = target.closest(".attempt");
    if (row && row.hidden) clear();
    for (let each = target.closest("details"); each; each = each.parentElement.closest("details")) each.open = true;
    target.scrollIntoView({ block: "start" });
    const summary = row && row.querySelector("summary");
    if (focus && summary) summary.focus({ preventScroll: true });
  }

  document.addEventListener("input", (event) => event.target.closest("#filters") && filter());
  document.addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("click", (event) => {
    if (event.target.closest("#filter-clear")) clear();
    const mark = event.target.closest("[data-goto]");
    if (mark) {
      history.pushState(null, "", "#" + mark.dataset.goto);
      go(mark.dataset.goto, true);
    }
    // The same link a second time changes no address, and must still lead there.
    const link = event.target.closest('a[href^="#"]');
    if (link && link.getAttribute("href") === location.hash) go(location.hash.slice(1), true);
  });
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || !["j", "k"].includes(event.key)) return;
    if (event.target.closest("input, select, textarea")) return;
    const summaries = all(".attempt:not([hidden]) > details > summary");
    const here = summaries.indexOf(document.activeElement);
    const next = summaries[event.key === "j" ? here + 1 : Math.max(here - 1, 0)];
    if (next) next.focus();
  });
  window.addEventListener("hashchange", () => go(location.hash.slice(1), true));
  document.addEventListener("lockstep:renewed", filter);
  filter();
  if (location.hash) go(location.hash.slice(1), true);
})();
