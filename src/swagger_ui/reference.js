// Shows the OpenAPI document of the API, and sends calls to the origin of the page.
"use strict";

const reference = document.getElementById("reference");
const api = reference.dataset.api;

// The `servers` of the document may contain another name of this host, which the content security policy forbids.
const sameOriginServer = {
  statePlugins: {
    spec: {
      wrapActions: {
        updateJsonSpec: (update) => (spec) => update({ ...spec, servers: [{ url: api }] }),
      },
    },
  },
};

const dark = matchMedia("(prefers-color-scheme: dark)");
const applyColorScheme = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", applyColorScheme);
applyColorScheme();

// Attributes for screen readers and keyboards that Swagger UI lacks.
const accessibility = {
  ".information-container": { role: "region", "aria-label": "About the API" },
  ".scheme-container": { role: "region", "aria-label": "Server and token" },
  ".dialog-ux": { role: "dialog", "aria-label": "Token" },
  ".close-modal": { "aria-label": "Close" },
  "#servers": { "aria-label": "Server" },
  ".examples-select-element": { "aria-label": "Example" },
  ".models h4": { "aria-level": "3" },
  ".info table, .microlight": { tabindex: "0" },
};

const setAttributes = () => {
  for (const [selector, attributes] of Object.entries(accessibility)) {
    for (const element of reference.querySelectorAll(selector)) {
      for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    }
  }
};
new MutationObserver(setAttributes).observe(reference, { childList: true, subtree: true });

SwaggerUIBundle({
  url: `${api}/openapi.json`,
  dom_id: "#reference",
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  plugins: [sameOriginServer],
  // Both would send requests to other hosts.
  queryConfigEnabled: false,
  validatorUrl: null,
});
