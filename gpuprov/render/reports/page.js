"use strict";
// The page is whole without this: the filter is shown only where it can work.
const form = document.getElementById("filter");
const rows = Array.from(document.querySelectorAll("#findings tbody tr"));
const shown = document.getElementById("shown");
const controls = { words: form.elements.words, host: form.elements.host, kinds: Array.from(form.querySelectorAll("[name=kind]")) };

function matches(row, words, host, kinds) {
  const text = row.textContent.toLowerCase();
  return words.every((word) => text.includes(word))
    && kinds.has(row.dataset.kind)
    && (host === "" || JSON.parse(row.dataset.hosts).includes(host));
}

function apply() {
  const words = controls.words.value.toLowerCase().split(/\s+/).filter(Boolean);
  const kinds = new Set(controls.kinds.filter((box) => box.checked).map((box) => box.value));
  let count = 0;
  for (const row of rows) {
    row.hidden = !matches(row, words, controls.host.value, kinds);
    count += row.hidden ? 0 : 1;
  }
  shown.textContent = `${count} of ${rows.length} shown`;
}

form.hidden = false;
form.addEventListener("input", apply);
form.addEventListener("reset", () => setTimeout(apply));
form.addEventListener("submit", (event) => event.preventDefault());
apply();
