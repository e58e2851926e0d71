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

function show() {
  const chosen = new FormData(form);
  const view = views[names.map((name) => chosen.get(name)).join(" ")];
  const curves = Object.entries(view.curves);
  says.textContent = texts[view.says];
  notes.textContent = texts[view.notes];
  const [, eps, sensitivity, delta, releases] = names.map((name) => chosen.get(name));
  const mechanisms = view.rows.map(([name]) => `"${name}"`).join(", ");
  asks.textContent =
    `sn.compare(${eps}, ${sensitivity}, delta=${delta === "0" ? "None" : delta}, releases=${releases}, mechanisms=[${mechanisms}])`;
  picture.setAttribute(
    "aria-label",
    `Noise from -${plain(view.limit)} to ${plain(view.limit)}: ${curves.map(([name]) => name).join(", ")}. The table has the numbers.`,
  );
  picture.querySelectorAll("text").forEach((text, i) => {
    text.textContent = plain(Number((view.limit * (i / 2 - 1)).toPrecision(4)));
  });
  picture.querySelectorAll("path").forEach((curve, i) => curve.setAttribute("d", curves[i] ? path(texts[curves[i][1]]) : ""));
  legend.querySelectorAll("li").forEach((item, i) => {
    item.hidden = !curves[i];
    item.querySelector("span").textContent = curves[i] ? curves[i][0] : "";
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
form.addEventListener("change", show);
form.addEventListener("submit", (event) => event.preventDefault());
show();
