// What every page has: the switch of colours.
(() => {
  "use strict";
  const button = document.getElementById("theme");
  const signs = { system: "◐", light: "○", dark: "●" };
  const show = (choice) => {
    button.textContent = signs[choice];
    button.setAttribute("aria-label", choice === "system" ? "Colours: as the system says" : `Colours: ${choice}`);
    button.title = button.getAttribute("aria-label");
  };
  button.addEventListener("click", () => show(window.CALLM_THEME.next()));
  show(window.CALLM_THEME.choice);
})();
