// The page Explore: shows the chosen setting's numbers, which the library has computed and the page contains.
"use strict";

const form = document.getElementById("explore-form");
const { views, texts } = JSON.parse(document.getElementById("explore-views").textContent);
const says = document.getElementById("explore-says");
const notes = document.getElementById("explore-notes");
const asks = document.getElementById("explore-asks");
const picture = document.getElementById("explore-picture");
const legend = document.getElementById("explore-legend");
const body = document.querySelector("#explore-table tbody");
const hidden = new Set();
const names = ["kind", "eps", "sensitivity", "delta", "releases"];

const plain = (number) => (number === null ? "–" : number !== 0 && Math.abs(number) < 1e-4 ? number.toExponential() : String(number));

function element(tag, text, attributes = {}) {
  const made = document.createElement(tag);
  made.textContent = text;
  Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
  return made;
}

// A curve is kept as its right half, "x y x y …" from the middle of a picture 640 wide.
function path(half) {
  const right = half.match(/\S+ \S+/g).map((point) => point.split(" ").map(Number));
  const left = right.slice(1).reverse().map(([x, y]) => [-x, y]);
  return "M" + [...left, ...right].map(([x, y]) => `${320 + x} ${y}`).join("L");
}

// What the controls say. A slider chooses from a list.
function chosen() {
  const of = (item) => (item.dataset?.values ? item.dataset.values.split(" ")[item.value] : item.value);
  return Object.fromEntries(names.map((name) => [name, of(form.elements[name])]));
}

// Set the controls to an address's choice; what the address does not name, or names wrongly, stays as it is.
function restore(address) {
  const wanted = new URLSearchParams(address);
  names.forEach((name) => {
    const item = form.elements[name];
    const values = item.dataset?.values?.split(" ") ?? [...item].map((radio) => radio.value);
    const place = values.indexOf(wanted.get(name));
    if (place >= 0) item.value = item.dataset ? place : values[place];
  });
  wanted.getAll("hide").forEach((name) => hidden.add(name));
}

function show() {
  const setting = chosen();
  const { eps, sensitivity, delta, releases } = setting;
  const view = views[Object.values(setting).join(" ")];
  const curves = Object.entries(view.curves);
  history.replaceState(null, "", `?${new URLSearchParams([...Object.entries(setting), ...[...hidden].map((name) => ["hide", name])])}`);
  form.querySelectorAll("[data-values]").forEach((slider) => {
    const text = setting[slider.name] === "0" ? "none" : setting[slider.name];
    slider.setAttribute("aria-valuetext", text);
    slider.parentElement.querySelector("output").textContent = text;
  });
  says.textContent = texts[view.says];
  notes.textContent = texts[view.notes];
  const mechanisms = view.rows.map(([name]) => `"${name}"`).join(", ");
  asks.textContent =
    `sn.compare(${eps}, ${sensitivity}, delta=${delta === "0" ? "None" : delta}, releases=${releases}, mechanisms=[${mechanisms}])`;
  const drawn = curves.filter(([name]) => !hidden.has(name)).map(([name]) => name);
  picture.setAttribute(
    "aria-label",
    `Noise from -${plain(view.limit)} to ${plain(view.limit)}: ${drawn.join(", ")}. The table has the numbers.`,
  );
  picture.querySelectorAll("text").forEach((text, i) => {
    const tick = i < 5 ? view.limit * (i / 2 - 1) : (view.top * (i - 5)) / 4;
    text.textContent = plain(Number(tick.toPrecision(4)));
  });
  picture.querySelectorAll("path").forEach((curve, i) => {
    curve.setAttribute("d", drawn.includes(curves[i]?.[0]) ? path(texts[curves[i][1]]) : "");
  });
  legend.querySelectorAll("li").forEach((item, i) => {
    item.hidden = !curves[i];
    item.querySelector("span").textContent = curves[i] ? curves[i][0] : "";
    item.querySelector("input").checked = drawn.includes(curves[i]?.[0]);
  });
  body.replaceChildren(
    ...view.rows.map(([name, ...numbers]) => {
      const row = document.createElement("tr");
      row.append(element("th", name, { scope: "row" }), ...numbers.map((number) => element("td", plain(number))));
      return row;
    }),
  );
}

form.hidden = false;
form.addEventListener("input", show);
form.addEventListener("submit", (event) => event.preventDefault());
legend.addEventListener("change", ({ target }) => {
  hidden[target.checked ? "delete" : "add"](target.closest("li").querySelector("span").textContent);
  show();
});
restore(location.search);
show();
