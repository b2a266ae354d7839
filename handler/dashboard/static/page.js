// The page works without this. It ticks all boxes of a table at once, and tells times in the zone of whoever reads.
for (const time of document.querySelectorAll("time[datetime]")) {
  time.title = new Date(time.dateTime).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "long" });
}
const boxes = [...document.querySelectorAll("td input[type=checkbox]")];
const place = document.querySelector("thead th .unseen");
if (boxes.length > 1 && place) {
  const all = document.createElement("input");
  all.type = "checkbox";
  all.setAttribute("aria-label", "All of this page");
  all.addEventListener("change", () => boxes.forEach((box) => { box.checked = all.checked; }));
  place.replaceWith(all);
}
