// Copy buttons and local times. Every page works without this script.
// How long a confirmation is shown, in milliseconds.
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
    exact.textContent = LOCAL_TIME.format(new Date(element.dateTime));
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

document.querySelectorAll("[data-copy]").forEach(addCopyButton);
document.querySelectorAll("time[title]").forEach(showLocalTime);
