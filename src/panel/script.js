// Copy buttons and local times. Every page works without this script.

// Duration of a confirmation, in milliseconds.
const CONFIRMATION_MS = 3000;

/** Adds a copy button after an element. Its attribute `data-copy` is the name of its text, for screen readers. */
function addCopyButton(element) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "quiet";
    button.append("Copy");
    const name = document.createElement("span");
    name.className = "visually-hidden";
    name.append(` ${element.dataset.copy}`);
    button.append(name);
    const status = document.createElement("span");
    status.setAttribute("aria-live", "polite");
    button.addEventListener("click", async () => {
        status.textContent = await copy(element) ? "Copied" : "Not copied: press Ctrl+C";
        setTimeout(() => { status.textContent = ""; }, CONFIRMATION_MS);
    });
    const group = document.createElement("span");
    group.className = "copy";
    group.append(button, status);
    element.after(group);
}

/** Replaces a UTC time by the local one. The element's title keeps the UTC time. */
function showLocalTime(element) {
    const exact = element.querySelector("small") ?? element;
    const hasSeconds = /:\d\d:/.test(exact.textContent);
    const time = LOCAL_TIME.format(new Date(element.dateTime));
    const hasDate = /^\d{4}-/.test(exact.textContent);
    const text = hasSeconds ? time : time.replace(/:\d\d(?= )/, "");
    exact.textContent = hasDate ? text : text.replace(/^\S+ /, "");
}

/** Shows the local time in a field of a filter. The form still sends the time in UTC. */
function useLocalTime(field) {
    const isoTime = (date) => date.toISOString().slice(0, (field.value || field.defaultValue).length);
    if (field.defaultValue) {
        const utc = new Date(`${field.defaultValue}Z`);
        field.value = isoTime(new Date(utc - utc.getTimezoneOffset() * 60_000));
    }
    field.labels[0].querySelector(".zone").textContent = LOCAL_TIME.resolvedOptions().timeZone;
    field.form.addEventListener("formdata", ({ formData }) => {
        if (field.value) formData.set(field.name, isoTime(new Date(field.value)));
    });
}

// The Swedish format is the one of the pages: 2026-01-31 12:00:00.
const LOCAL_TIME = new Intl.DateTimeFormat("sv", {
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    timeZoneName: "short",
});

// A browser may restore a page after signing out. The server then refuses it.
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

document.querySelectorAll("[data-copy]").forEach(addCopyButton);
document.querySelectorAll("time[title]:not(.relative)").forEach(showLocalTime);
document.querySelectorAll("input[type=datetime-local]").forEach(useLocalTime);
