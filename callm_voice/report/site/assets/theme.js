// Runs before the page is drawn: the reader's choice of colours, else the system's.
(() => {
  "use strict";
  const wanted = matchMedia("(prefers-color-scheme: dark)");
  const choices = ["system", "light", "dark"];
  const stored = () => { try { return localStorage.getItem("callm-theme"); } catch { return null; } };
  let choice = choices.includes(stored()) ? stored() : "system";
  const apply = () => {
    const dark = choice === "dark" || (choice === "system" && wanted.matches);
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    document.dispatchEvent(new Event("callm-theme"));
  };
  wanted.addEventListener("change", apply);
  addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((d) => { d.open = true; }));
  window.CALLM_THEME = {
    next() {
      choice = choices[(choices.indexOf(choice) + 1) % choices.length];
      try { localStorage.setItem("callm-theme", choice); } catch { /* a page on file:// may not be allowed to */ }
      apply();
      return choice;
    },
    get choice() { return choice; },
  };
  apply();
})();
