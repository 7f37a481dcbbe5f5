"use strict";
// Without this script everything is there; it opens what a link leads to.
function reveal() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let around = target; around; around = around.parentElement) if (around.tagName === "DETAILS") around.open = true;
  target.scrollIntoView();
}
addEventListener("hashchange", reveal);
reveal();
