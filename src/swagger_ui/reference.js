// Shows the API's document, and sends the calls that are tried to where it came from.
"use strict";

const reference = document.getElementById("reference");
const api = reference.dataset.api;

// The document's own `servers` may be another name of this host, which the page's policy does not allow.
const fromHere = {
  statePlugins: {
    spec: {
      wrapActions: {
        updateJsonSpec: (update) => (spec) => update({ ...spec, servers: [{ url: api }] }),
      },
    },
  },
};

const dark = matchMedia("(prefers-color-scheme: dark)");
const dress = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", dress);
dress();

// What a screen reader or a keyboard needs, and Swagger UI does not say.
const said = {
  ".information-container": { role: "region", "aria-label": "About the API" },
  ".scheme-container": { role: "region", "aria-label": "Server and token" },
  ".dialog-ux": { role: "dialog", "aria-label": "Token" },
  ".close-modal": { "aria-label": "Close" },
  "#servers": { "aria-label": "Server" },
  ".examples-select-element": { "aria-label": "Example" },
  ".models h4": { "aria-level": "3" },
  ".info table, .microlight": { tabindex: "0" },
};

const say = () => {
  for (const [selector, attributes] of Object.entries(said)) {
    for (const element of reference.querySelectorAll(selector)) {
      for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    }
  }
};
new MutationObserver(say).observe(reference, { childList: true, subtree: true });

SwaggerUIBundle({
  url: `${api}/openapi.json`,
  dom_id: "#reference",
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  plugins: [fromHere],
  // Both would ask other hosts.
  queryConfigEnabled: false,
  validatorUrl: null,
});
