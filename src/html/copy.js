// Shared by the scripts of the control panel and the reference page.
"use strict";

/** Copies a text, by default that of an element. Selects the element first, so that the visitor can copy it if the browser refuses. */
async function copy(element, text = element.textContent) {
    getSelection().selectAllChildren(element);
    try {
        // `navigator.clipboard` is missing on pages without TLS.
        if (!navigator.clipboard) {
            return document.execCommand("copy");
        }
        await navigator.clipboard.writeText(text);
        return true;
    } catch {
        return false;
    }
}

