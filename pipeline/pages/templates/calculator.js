// The calculator of a run page. Numbers come from the page, none from a request.
// The functions above "The page" are pure and mirror pipeline/cost and pipeline/pages/calculator.py; a test compares.
"use strict";

var frontierCalculator = (function () {
  var NOISE = 1e-9;
  var NOT_REACHED = "No configuration here is that fast.";
  var NOT_SAID = "not known: the source does not say how the tokens divide";

  // Numbers for people: as pipeline/pages/formats.py.

  // Like Number.toFixed, but an exact half goes to the even digit.
  function fixed(value, decimals) {
    var text = value.toFixed(decimals);
    var exact = value.toFixed(100);
    var cut = exact.length - 100 + decimals;
    if (!/^50*$/.test(exact.slice(cut))) { return text; }
    var kept = decimals ? exact.slice(0, cut) : exact.slice(0, cut - 1);
    return Number(kept[kept.length - 1]) % 2 === 0 ? kept : text;
  }

  function grouped(text) {
    var parts = text.split(".");
    parts[0] = parts[0].replace(/\B(?=(\d{3})+$)/g, ",");
    return parts.join(".");
  }

  function throughput(value) { return value >= 100 ? grouped(fixed(value, 0)) : fixed(value, 1); }

  function throughputAtLeast(value) {
    var step = value >= 100 ? 1.0 : 0.1;
    return throughput(Math.floor(value * (1 + NOISE) / step) * step);
  }

  function speed(value) { return throughput(value).replace(/\.0$/, ""); }

  // floor(log10(value)), from the shortest decimal: Math.log10 may differ between machines.
  function exponent(value) { return Number(value.toExponential().split("e")[1]); }

  function usdDecimals(value) { return value >= 1 || value <= 0 ? 2 : Math.min(100, 2 - exponent(value)); }

  function usdMtok(value) { return "$" + grouped(fixed(value, usdDecimals(value))); }

  function usdMtokAtMost(value) {
    var scale = Math.pow(10, usdDecimals(value));
    return usdMtok(Math.ceil(value * (1 - NOISE) * scale) / scale);
  }

  function usdGpuHour(value) { return "$" + grouped(fixed(value, 2)); }

  function counted(n, noun) { return grouped(String(n)) + " " + noun + (n === 1 ? "" : "s"); }

  function target(value) { return speed(value) + " tokens/s per user"; }

  function weight(value) { return fixed(value, 3).replace(/\.?0+$/, ""); }

  // The frontier at any speed: as pipeline/cost/frontier_reading.py.

  function between(left, right, t) {
    var y0 = left.throughput_tok_s_gpu;
    var y1 = right.throughput_tok_s_gpu;
    var h = right.speed_tok_s_user - left.speed_tok_s_user;
    var u = (t - left.speed_tok_s_user) / h;
    var m0 = left.slope || 0.0;
    var m1 = right.slope || 0.0;
    var y = (1 + 2 * u) * (1 - u) * (1 - u) * y0 + u * (1 - u) * (1 - u) * h * m0
      + u * u * (3 - 2 * u) * y1 - u * u * (1 - u) * h * m1;
    return Math.max(y1, Math.min(y0, y));
  }

  function part(y, share, nextShare, u) {
    return share === null || nextShare === null ? null : y * (share + u * (nextShare - share));
  }

  function reading(curve, left, right, found) {
    return {
      series: curve.label,
      basis: found.basis,
      speed_tok_s_user: found.t,
      delivered_tok_s_user: found.delivered,
      throughput_tok_s_gpu: found.y,
      output_tok_s_gpu: part(found.y, left.output_share, right.output_share, found.u),
      computed_input_tok_s_gpu: part(found.y, left.computed_input_share, right.computed_input_share, found.u),
      n_gpus: left.n_gpus === right.n_gpus ? left.n_gpus : null,
      power_w_gpu: left.power_w_gpu === right.power_w_gpu ? left.power_w_gpu : null
    };
  }

  function atKnot(curve, knot, basis, t) {
    var found = { basis: basis, t: t, delivered: knot.speed_tok_s_user, y: knot.throughput_tok_s_gpu, u: 0 };
    return reading(curve, knot, knot, found);
  }

  function readCurve(curve, t) {
    var knots = curve.knots;
    if (t > knots[knots.length - 1].speed_tok_s_user) { return null; }
    if (t < knots[0].speed_tok_s_user) { return atKnot(curve, knots[0], "faster_config", t); }
    for (var i = 0; i < knots.length; i += 1) {
      if (knots[i].speed_tok_s_user === t) { return atKnot(curve, knots[i], "measured", t); }
      if (knots[i].speed_tok_s_user > t) { break; }
    }
    var left = knots[i - 1];
    var right = knots[i];
    var u = (t - left.speed_tok_s_user) / (right.speed_tok_s_user - left.speed_tok_s_user);
    return reading(curve, left, right, { basis: "interpolated", t: t, delivered: t, y: between(left, right, t), u: u });
  }

  function readAt(curves, t) {
    var best = null;
    curves.forEach(function (curve) {
      var found = readCurve(curve, t);
      if (found && (!best || found.throughput_tok_s_gpu > best.throughput_tok_s_gpu)) { best = found; }
    });
    return best;
  }

  function bisected(left, right, y) {
    var low = left.speed_tok_s_user;
    var high = right.speed_tok_s_user;
    for (var n = 0; n < 60; n += 1) {
      var middle = low + (high - low) / 2;
      if (between(left, right, middle) >= y) { low = middle; } else { high = middle; }
    }
    return low;
  }

  function lastSpeed(knots, y) {
    if (knots[0].throughput_tok_s_gpu < y) { return null; }
    for (var i = 1; i < knots.length; i += 1) {
      if (knots[i].throughput_tok_s_gpu < y) { return bisected(knots[i - 1], knots[i], y); }
    }
    return knots[knots.length - 1].speed_tok_s_user;
  }

  function fastestAt(curves, y) {
    var speeds = curves.map(function (curve) { return lastSpeed(curve.knots, y); });
    var known = speeds.filter(function (found) { return found !== null; });
    return known.length ? readAt(curves, Math.max.apply(null, known)) : null;
  }

  // Dollars, GPUs and watts: as pipeline/cost/what_if.py.

  function usdPerMtok(rate, tokS) { return tokS === null || tokS <= 0 ? null : rate * 1000000 / (tokS * 3600); }

  function costsOf(found, rate) {
    return {
      total: usdPerMtok(rate, found.throughput_tok_s_gpu),
      computed_input: usdPerMtok(rate, found.computed_input_tok_s_gpu),
      output: usdPerMtok(rate, found.output_tok_s_gpu)
    };
  }

  function breakEven(found, rate, weights) {
    var computed = found.computed_input_tok_s_gpu;
    var output = found.output_tok_s_gpu;
    if (computed === null || output === null) { return null; }
    var cached = Math.max(0.0, found.throughput_tok_s_gpu - computed - output);
    var weighted = computed * weights.computed_input + cached * weights.cached_input + output * weights.output;
    var unit = usdPerMtok(rate, weighted);
    if (unit === null) { return null; }
    return {
      computed_input: unit * weights.computed_input,
      cached_input: unit * weights.cached_input,
      output: unit * weights.output
    };
  }

  function underCap(curves, question) {
    var cap = question.cap_usd_mtok;
    if (cap === null || cap <= 0) { return null; }
    return fastestAt(curves, question.usd_per_gpu_hour * 1000000 / (cap * 3600) * (1 - NOISE));
  }

  function fleetOf(found, question) {
    var load = question.load_tok_s;
    if (load === null || load <= 0) { return null; }
    var size = found.n_gpus;
    var units = Math.ceil(load / (found.throughput_tok_s_gpu * (size || 1)) * (1 - NOISE));
    var gpus = units * (size || 1);
    var usdPerHour = gpus * question.usd_per_gpu_hour;
    var measured = found.power_w_gpu;
    var watts = measured !== null ? measured : question.all_in_w_gpu;
    return {
      n_gpus: gpus,
      n_deployments: size ? units : null,
      usd_per_hour: usdPerHour,
      usd_mtok: usdPerHour * 1000000 / (load * 3600),
      power_w: watts === null ? null : gpus * watts,
      power_basis: watts === null ? null : measured !== null ? "measured" : "all_in"
    };
  }

  function answer(curves, question) {
    var found = readAt(curves, question.speed_tok_s_user);
    var capped = underCap(curves, question);
    return {
      reading: found,
      costs: found && costsOf(found, question.usd_per_gpu_hour),
      break_even: found && breakEven(found, question.usd_per_gpu_hour, question.weights),
      under_cap: capped,
      under_cap_usd_mtok: capped && usdPerMtok(question.usd_per_gpu_hour, capped.throughput_tok_s_gpu),
      fleet: found && fleetOf(found, question)
    };
  }

  // Words: as pipeline/pages/calculator.py.

  function amount(found) {
    var value = found.throughput_tok_s_gpu;
    if (found.basis === "faster_config") { return "at least " + throughputAtLeast(value); }
    return found.basis === "interpolated" ? "an estimated " + throughput(value) : throughput(value);
  }

  function dollars(found, usd) {
    if (usd === null) { return NOT_SAID; }
    return found.basis === "faster_config" ? "at most " + usdMtokAtMost(usd) : usdMtok(usd);
  }

  function basisWords(found) {
    if (found.basis === "interpolated") { return "interpolated between two points"; }
    if (found.basis === "faster_config") {
      return "a faster configuration serves it, at " + target(found.delivered_tok_s_user);
    }
    return "a point of the frontier";
  }

  function breakEvenWords(found, weights) {
    var prices = found.break_even;
    if (prices === null) { return NOT_SAID; }
    return "computed input " + dollars(found.reading, prices.computed_input)
      + ", cached input " + dollars(found.reading, prices.cached_input)
      + ", output " + dollars(found.reading, prices.output)
      + " (weights " + [weights.computed_input, weights.cached_input, weights.output].map(weight).join(" : ") + ")";
  }

  function readingLines(found, weights) {
    var read = found.reading;
    if (!read) { return [["Throughput", NOT_REACHED]]; }
    return [
      ["Throughput", amount(read) + " tokens/s per GPU (" + basisWords(read) + "), " + read.series],
      ["Cost per 1M tokens, total", dollars(read, found.costs.total)],
      ["Cost per 1M tokens, computed input only", dollars(read, found.costs.computed_input)],
      ["Cost per 1M tokens, output only", dollars(read, found.costs.output)],
      ["Break-even price per 1M", breakEvenWords(found, weights)]
    ];
  }

  function capLines(found, question) {
    var cap = question.cap_usd_mtok;
    if (cap === null || cap <= 0) { return []; }
    var term = "Highest speed at " + usdMtok(cap) + " or less per 1M total tokens";
    var read = found.under_cap;
    if (!read) { return [[term, "none: every configuration here costs more"]]; }
    var about = read.basis === "interpolated" ? "an estimated " : "";
    var atLeast = throughputAtLeast(read.speed_tok_s_user).replace(/\.0$/, "") + " tokens/s per user";
    return [[term, about + atLeast + ", at " + usdMtok(found.under_cap_usd_mtok) + ", " + read.series]];
  }

  function powerWords(fleet) {
    if (fleet.power_w === null) { return "power not known"; }
    var what = fleet.power_basis === "measured" ? "measured at the device" : "host, network and cooling included";
    return grouped(fixed(fleet.power_w / 1000, 1)) + " kW (" + what + ")";
  }

  function fleetLines(found, question) {
    var fleet = found.fleet;
    if (!fleet) { return []; }
    var most = found.reading.basis === "faster_config" ? "at most " : "";
    var whole = fleet.n_deployments !== null ? " (" + counted(fleet.n_deployments, "deployment") + ")" : "";
    var text = most + counted(fleet.n_gpus, "GPU") + whole + ", " + usdGpuHour(fleet.usd_per_hour) + " per hour, "
      + usdMtok(fleet.usd_mtok) + " per 1M total tokens; " + powerWords(fleet);
    return [["For " + throughput(question.load_tok_s) + " total tokens/s", text]];
  }

  function answerLines(data, question) {
    var found = answer(data.curves, question);
    return readingLines(found, question.weights).concat(capLines(found, question), fleetLines(found, question));
  }

  function ladderLines(data, rate) {
    return data.targets_tok_s_user.map(function (t) {
      var found = readAt(data.curves, t);
      return found ? [speed(t), amount(found), dollars(found, costsOf(found, rate).total)] : [speed(t), "–", "–"];
    });
  }

  return { answer: answer, answerLines: answerLines, ladderLines: ladderLines, usdMtok: usdMtok, throughput: throughput };
})();

// The page

(function () {
  if (typeof document === "undefined") { return; }

  function number(form, name) {
    var value = parseFloat(form.elements[name].value);
    return isFinite(value) && value >= 0 ? value : null;
  }

  function questionOf(form, data) {
    return {
      usd_per_gpu_hour: number(form, "usd_per_gpu_hour"),
      speed_tok_s_user: number(form, "speed_tok_s_user"),
      cap_usd_mtok: number(form, "cap_usd_mtok"),
      load_tok_s: number(form, "load_tok_s"),
      all_in_w_gpu: data.all_in_w_gpu,
      weights: {
        computed_input: number(form, "weight_computed_input") || 0,
        cached_input: number(form, "weight_cached_input") || 0,
        output: number(form, "weight_output") || 0
      }
    };
  }

  function added(parent, tag, text) {
    var element = document.createElement(tag);
    element.textContent = text;
    parent.appendChild(element);
    return element;
  }

  function show(root, data, form) {
    var question = questionOf(form, data);
    var list = root.querySelector("[data-answer]");
    var body = root.querySelector("[data-ladder]");
    list.textContent = "";
    body.textContent = "";
    if (!question.usd_per_gpu_hour || question.speed_tok_s_user === null) {
      added(list, "dt", "Type a price and a speed above zero.");
      return;
    }
    frontierCalculator.answerLines(data, question).forEach(function (line) {
      var group = added(list, "div", "");
      added(group, "dt", line[0]);
      added(group, "dd", line[1]);
    });
    frontierCalculator.ladderLines(data, question.usd_per_gpu_hour).forEach(function (line) {
      var row = added(body, "tr", "");
      added(row, "th", line[0]).setAttribute("scope", "row");
      added(row, "td", line[1]).className = "n";
      added(row, "td", line[2]).className = "n";
    });
  }

  function start(root) {
    var data = JSON.parse(root.querySelector("script[type='application/json']").textContent);
    var form = root.querySelector("form");
    form.addEventListener("submit", function (event) { event.preventDefault(); });
    form.addEventListener("input", function (event) {
      if (event.target.name === "tier" && event.target.value) {
        form.elements.usd_per_gpu_hour.value = event.target.value;
      } else if (event.target.name === "usd_per_gpu_hour") {
        form.elements.tier.value = "";
      }
      show(root, data, form);
    });
    root.querySelector("[data-live]").hidden = false;
    root.querySelector("[data-still]").hidden = true;
    show(root, data, form);
  }

  document.querySelectorAll("[data-calculator]").forEach(start);
})();
