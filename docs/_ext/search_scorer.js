// First come pages with the word in the index or in their title, then methods of that name (every mechanism can have one), then
// other pages, and evidence last.
var Scorer = {
  score: ([page, title, , , score, , kind]) =>
    page.startsWith("evidence/") ? score / 100 : kind === "object" && title.split(".").length > 2 ? score / 2 : score,
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
