"use strict";
(() => {
  const find = (selector) => document.querySelector(selector);
  const all = (selector, from = document) => Array.from(from.querySelectorAll(selector));
  const boxes = all("input[name=outcome]");
  const operator = find("#operator");
  const text = find("#text");
  const parts = all(".part").filter((part) => part.querySelector(".count")).map((part) => ({
    part,
    count: part.querySelector(".count"),
    total: part.querySelector(".count").textContent,
    items: all(".case, .group", part),
  }));
  const texts = new WeakMap();

  function textOf(element, before) {
    let known = texts.get(element);
    if (known === undefined) {
      known = (before + element.textContent).toLowerCase();
      texts.set(element, known);
    }
    return known;
  }

  function show(element, visible) {
    if (element.hidden === visible) element.hidden = !visible;
  }

  function rows(group, words) {
    const lists = group.querySelector("ul").children;
    const head = group.querySelector("h3");
    const before = head ? `${head.textContent} ${group.querySelector("code").textContent}::` : "";
    let shown = 0;
    for (const row of lists) {
      const of = row.dataset.operator;
      const fits = (!of || !operator.value || of === operator.value)
        && words.every((word) => textOf(row, before).includes(word));
      show(row, fits);
      shown += fits;
    }
    return shown;
  }

  function apply() {
    const outcomes = boxes.filter((box) => box.checked).map((box) => box.value);
    const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const filtered = outcomes.length > 0 || operator.value !== "" || words.length > 0;
    let visible = 0;
    for (const { part, count, total, items } of parts) {
      let shown = 0;
      for (const item of items) {
        const { outcome, operator: of } = item.dataset;
        let fits = 0;
        if ((!outcomes.length || outcomes.includes(outcome)) && (!operator.value || !of || operator.value === of)) {
          if (item.classList.contains("group")) fits = rows(item, words);
          else fits = +words.every((word) => textOf(item, "").includes(word));
        }
        show(item, fits > 0);
        shown += fits;
      }
      show(part, shown > 0 || !filtered);
      count.textContent = filtered ? `${shown.toLocaleString("en")} of ${total}` : total;
      if (part.localName === "details" && shown > 0 && outcomes.includes(part.id)) part.open = true;
      visible += shown;
    }
    find("#status").textContent = filtered ? `${visible.toLocaleString("en")} listed` : "";
  }

  function remember() {
    const values = new URLSearchParams();
    const outcomes = boxes.filter((box) => box.checked).map((box) => box.value);
    if (outcomes.length) values.set("outcome", outcomes.join(","));
    if (operator.value) values.set("operator", operator.value);
    if (text.value) values.set("text", text.value);
    try {
      history.replaceState(null, "", "#" + values);
    } catch {
      // a page that may not change its address filters all the same
    }
    apply();
  }

  function recall() {
    const hash = location.hash.slice(1);
    const target = /^c\d+$/.test(hash) ? document.getElementById(hash) : null;
    if (hash && !target && !hash.includes("=")) return;
    const values = new URLSearchParams(target ? "" : hash);
    const outcomes = (values.get("outcome") || "").split(",");
    for (const box of boxes) box.checked = outcomes.includes(box.value);
    operator.value = values.get("operator") || "";
    if (operator.selectedIndex < 0) operator.value = "";
    text.value = values.get("text") || "";
    apply();
    if (target) {
      const folded = target.closest("details.part");
      if (folded) folded.open = true;
      target.open = true;
      target.scrollIntoView();
    }
  }

  let waiting;
  text.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(remember, 150);
  });
  operator.addEventListener("change", remember);
  for (const box of boxes) box.addEventListener("change", remember);
  find("#clear").addEventListener("click", () => {
    for (const box of boxes) box.checked = false;
    operator.value = text.value = "";
    remember();
  });
  addEventListener("hashchange", recall);
  document.documentElement.classList.add("js");
  find(".more").hidden = false;
  recall();
})();
