/* The switches of the overview: cost or throughput, target and price tier. The table is complete without them; this
   script writes the same cells for another choice, from the readings that the page carries, in the page's own formats. */
(function () {
  "use strict";
  const form = document.querySelector(".switches");
  const source = document.getElementById("readings");
  if (!form || !source) return;
  const readings = JSON.parse(source.textContent);
  const rows = Array.from(document.querySelectorAll("table.grid tbody tr"));
  const NOISE = 1e-9;

  const grouped = (value, digits) =>
    value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  const throughput = (value) => (value >= 100 ? grouped(value, 0) : value.toFixed(1));
  const floored = (value) => {
    const step = value >= 100 ? 1 : 0.1;
    return throughput(Math.floor((value * (1 + NOISE)) / step) * step);
  };
  const decimals = (value) => (value >= 1 || value <= 0 ? 2 : 2 - Math.floor(Math.log10(value)));
  const usd = (value) => `$${grouped(value, decimals(value))}`;
  const usdAtMost = (value) => {
    const scale = 10 ** decimals(value);
    return usd(Math.ceil(value * (1 - NOISE) * scale) / scale);
  };

  function best(values, pick) {
    const known = values.filter((value) => value !== null);
    return { n: known.length, value: known.length > 1 ? pick(...known) : null };
  }

  function write(row, cells, chosen) {
    const at = cells.map((cell) => cell[chosen.target] || []);
    const speeds = at.map((r) => (r.length > 1 ? r[0] : null));
    const costs = at.map((r) => (r.length > 1 ? r[3][chosen.tier] ?? null : null));
    const most = best(speeds, Math.max);
    const least = best(costs, Math.min);
    for (const td of row.querySelectorAll("[data-c]")) {
      const n = Number(td.dataset.c);
      const part = (name) => td.querySelector(`.${name}`);
      const highest = chosen.metric !== "cost" && most.value !== null && speeds[n] === most.value;
      const cheapest = chosen.metric !== "throughput" && least.value !== null && costs[n] === least.value;
      if (speeds[n] === null) {
        if (part("v").textContent !== "no valid point") part("v").textContent = "not reached";
        part("c").textContent = "";
        part("e").textContent = at[n][0] || "";
      } else {
        const [value, bound, engine] = at[n];
        const tokens = bound ? `≥ ${floored(value)}` : throughput(value);
        const dollars = costs[n] === null ? "no price" : bound ? `≤ ${usdAtMost(costs[n])}` : usd(costs[n]);
        part("v").textContent = chosen.metric === "cost" ? dollars : tokens;
        part("c").textContent = chosen.metric === "both" ? dollars : "";
        part("e").textContent = engine;
      }
      part("v").classList.toggle("best", chosen.metric === "cost" ? cheapest : highest);
      part("c").classList.toggle("best", cheapest);
      const why = [highest && `highest of ${most.n}`, cheapest && `cheapest of ${least.n}`].filter(Boolean);
      part("w").textContent = why.join(" and ");
    }
  }

  function show() {
    const chosen = {
      metric: form.elements.metric.value,
      target: Number(form.elements.target.value),
      tier: form.elements.tier ? Number(form.elements.tier.value) : 0,
    };
    rows.forEach((row, n) => write(row, readings[n], chosen));
    const label = (name) => form.elements[name].selectedOptions[0].textContent;
    for (const place of document.querySelectorAll("[data-target]")) place.textContent = label("target").split(" ")[0];
    for (const place of document.querySelectorAll("[data-tier]")) place.textContent = label("tier");
  }

  form.hidden = false;
  form.addEventListener("change", show);
  form.addEventListener("submit", (event) => event.preventDefault());
})();
