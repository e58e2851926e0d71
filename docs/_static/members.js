// Unfold the member that the address names.
function unfold() {
  const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  named?.nextElementSibling?.querySelector(":scope > details")?.setAttribute("open", "");
}
addEventListener("hashchange", unfold);
addEventListener("DOMContentLoaded", unfold);
