// Shows the API's document, and sends the calls that are tried to where it came from.
"use strict";

const api = document.getElementById("reference").dataset.api;

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
