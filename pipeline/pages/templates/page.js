/* What a script adds to a page that is complete without it: tooltips, series toggles and point selection of the
   charts, a hint beside a table that is wider than its box, and a notice on a page that is read after it was due to be
   measured again. Nothing is requested and nothing is stored. */
(function () {
  "use strict";
  const all = (selector, within) => Array.from((within || document).querySelectorAll(selector));
  document.documentElement.classList.add("scripted");

  function toggles(charts) {
    for (const item of all(".legend > li", charts)) {
      const button = document.createElement("button");
      button.type = "button";
      button.setAttribute("aria-pressed", "true");
      button.append(...item.childNodes);
      item.append(button);
      button.addEventListener("click", () => {
        const shown = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", String(shown));
        for (const part of all(`svg [data-s="${item.dataset.s}"]`, charts)) part.classList.toggle("off", !shown);
      });
    }
  }

  function words(charts) {
    const found = new Map();
    for (const title of all("svg title", charts)) {
      const mark = title.parentNode;
      if (mark.dataset.p === undefined) mark.dataset.words = title.textContent;
      else found.set(mark.dataset.p, title.textContent);
      title.remove();
    }
    return found;
  }

  function tooltips(charts) {
    const known = words(charts);
    const tip = document.createElement("div");
    tip.className = "tip";
    tip.hidden = true;
    document.body.append(tip);
    const text = (mark) => mark && (mark.dataset.words || known.get(mark.dataset.p));
    charts.addEventListener("pointermove", (event) => {
      const said = text(event.target.closest("[data-p],[data-words]"));
      tip.hidden = !said;
      if (!said) return;
      tip.textContent = said;
      const left = Math.min(event.pageX + 14, window.scrollX + document.documentElement.clientWidth - tip.offsetWidth - 8);
      tip.style.left = `${Math.max(window.scrollX + 8, left)}px`;
      tip.style.top = `${event.pageY + 14}px`;
    });
    charts.addEventListener("pointerleave", () => { tip.hidden = true; });
  }

  /* A mark leads to its point's row; the address names the row, so a selection can be linked. */
  function selection(charts) {
    charts.addEventListener("click", (event) => {
      const mark = event.target.closest("svg [data-p]");
      const row = mark && document.querySelector(`tr[data-p="${mark.dataset.p}"]`);
      if (row) window.location.hash = row.id;
    });
    const select = () => {
      const row = document.getElementById(decodeURIComponent(window.location.hash.slice(1)));
      for (const mark of all("svg .selected", charts)) mark.classList.remove("selected");
      if (!row || row.dataset.p === undefined) return;
      for (const mark of all(`svg [data-p="${row.dataset.p}"]`, charts)) mark.classList.add("selected");
    };
    window.addEventListener("hashchange", select);
    select();
  }

  function hints() {
    for (const box of all(".scroll")) {
      const hint = document.createElement("p");
      hint.className = "hint";
      hint.textContent = "This table is wider than the page: it scrolls sideways.";
      box.before(hint);
      new ResizeObserver(() => hint.classList.toggle("shown", box.scrollWidth > box.clientWidth + 1)).observe(box);
    }
  }

  /* A page is published before it is overdue and read later: the reader's own day decides, in UTC as every date here. */
  function overdue(today) {
    for (const place of all("[data-due]")) {
      const due = place.dataset.due;
      if (today <= due) continue;
      if (place.tagName === "SPAN") {
        place.textContent = `overdue since ${due}`;
        continue;
      }
      const notice = document.createElement("p");
      const words = document.createElement("strong");
      words.textContent = `Overdue: these numbers were due to be measured again by ${due}, and this page is of an earlier day.`;
      notice.className = "banner overdue";
      notice.append(words);
      document.querySelector(".answer").before(notice);
    }
  }

  for (const charts of all(".charts")) {
    toggles(charts);
    tooltips(charts);
    selection(charts);
  }
  hints();
  overdue(new Date().toISOString().slice(0, 10));
})();
