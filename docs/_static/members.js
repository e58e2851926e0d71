// Unfold the member or the command that the address names.
function unfold() {
  const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const folded = (named?.matches("section") ? named : named?.nextElementSibling)?.querySelectorAll(":scope > details");
  folded?.forEach((details) => details.setAttribute("open", ""));
}
addEventListener("hashchange", unfold);
addEventListener("DOMContentLoaded", unfold);
