// Shared by the scripts of the control panel and the reference page.
"use strict";

/** Copies the text of an element. Selects it first, so that the visitor can copy it if the browser refuses. */
async function copy(element) {
    getSelection().selectAllChildren(element);
    try {
        // `navigator.clipboard` is missing on pages without TLS.
        if (!navigator.clipboard) {
            return document.execCommand("copy");
        }
        await navigator.clipboard.writeText(element.textContent);
        return true;
    } catch {
        return false;
    }
}

