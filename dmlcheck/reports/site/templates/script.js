"use strict";
(() => {
  const contents = document.querySelector(".contents details");
  if (contents) contents.open = matchMedia("(min-width: 62rem)").matches;

  // An address with an anchor opens the folded part that the anchor is in.
  const unfold = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const fold = target && target.closest("details");
    if (fold) fold.open = true;
  };
  addEventListener("hashchange", unfold);
  unfold();

  for (const box of document.querySelectorAll("pre")) {
    if (!navigator.clipboard || !box.parentElement.classList.contains("code")) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    button.onclick = async () => {
      await navigator.clipboard.writeText(box.textContent);
      button.textContent = "Copied";
    };
    box.parentElement.append(button);
  }

  for (const group of document.querySelectorAll("[data-tabs]")) tabs(group);

  function tabs(group) {
    const panels = [...group.querySelectorAll(":scope > [data-tab]")];
    const bar = document.createElement("div");
    bar.className = "tabs";
    bar.setAttribute("role", "tablist");
    bar.setAttribute("aria-label", group.dataset.tabs);
    const show = (chosen, focus) => {
      panels.forEach((panel, at) => {
        panel.hidden = at !== chosen;
        bar.children[at].setAttribute("aria-selected", at === chosen);
        bar.children[at].tabIndex = at === chosen ? 0 : -1;
      });
      if (focus) bar.children[chosen].focus();
    };
    panels.forEach((panel, at) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = panel.dataset.tab;
      button.setAttribute("role", "tab");
      button.id = `${group.id}-tab-${at}`;
      panel.id = `${group.id}-panel-${at}`;
      button.setAttribute("aria-controls", panel.id);
      panel.setAttribute("role", "tabpanel");
      panel.setAttribute("aria-labelledby", button.id);
      panel.querySelector(":scope > h3")?.remove();
      button.onclick = () => show(at);
      bar.append(button);
    });
    bar.onkeydown = (event) => {
      const at = [...bar.children].indexOf(document.activeElement);
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: panels.length - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      show((to + panels.length) % panels.length, true);
    };
    group.prepend(bar);
    show(0);
  }

  // ---- search: INDEX has [name, what it is, address, words or nothing] of each entry

  const input = document.querySelector("#query");
  const list = document.querySelector("#hits");
  const said = document.querySelector("#said");
  if (!input || typeof INDEX === "undefined") return;
  const box = input.closest(".find");
  box.hidden = false;
  const MOST = 12;
  const fold = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, "");
  const wordsOf = (text) => text.toLowerCase().split(/[^a-z0-9]+/).filter((word) => word.length > 2);
  // Words of a question that say nothing of what it is about.
  const EMPTY = new Set("and are can does for from get how meaning mean means not the that this what use when where which why with".split(" "));
  const rows = INDEX.map(([name, kind, address, words = "", constraints = 0]) => ({
    name, kind, address, constraints,
    key: fold(name), names: words.split(" ").map(fold), text: `${name} ${kind} ${words}`.toLowerCase(),
    parts: wordsOf(name), words: wordsOf(`${name} ${words}`),
  }));

  // How many letters are wrong, missing, too many or swapped with the next one, to forgive a slip of the pen.
  const distance = (a, b, most) => {
    if (Math.abs(a.length - b.length) > most) return most + 1;
    let before = [], above = [...Array(b.length + 1).keys()];
    for (let i = 1; i <= a.length; i++) {
      const row = [i];
      for (let j = 1; j <= b.length; j++) {
        const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
        const swapped = isSwap ? before[j - 2] + 1 : Infinity;
        row.push(Math.min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] !== b[j - 1]), swapped));
      }
      [before, above] = [above, row];
    }
    return above[b.length];
  };
  const slips = (word) => (word.length > 6 ? 2 : word.length > 3 ? 1 : 0);
  const isLike = (word, others) => others.some((other) => distance(word, other, 1) <= 1);
  const score = (row, typed, query, words) => {
    if (row.key === query) return 0;
    if (row.names.includes(query)) return row.key.includes(query) ? 0.5 : 1;
    if (row.key.startsWith(query)) return 2 + (row.key.length - query.length) / 100;
    if (row.key.includes(query)) return 3;
    if (row.names.some((name) => name.startsWith(query))) return 4;
    if (words.length > 1) {
      if (row.kind.startsWith("operator") && words.includes(row.name.toLowerCase())) return 1.5;
      const has = (word) => row.text.includes(word) || (word.length > 4 && isLike(word, row.words));
      const share = words.filter(has).length / words.length;
      return share >= 0.5 ? 7 - share : 9;
    }
    if (query.length > 3 && row.names.some((name) => name.includes(query))) return 5;
    if (typed.length > 2 && row.text.includes(typed)) return 6;
    const slip = Math.min(...[row.key, ...row.names, ...row.parts].map((name) => distance(query, name, slips(query))));
    return slip <= slips(query) ? 7 + slip / 10 : 9;
  };
  // The operators whose constraint an id names: `GEMM/C8` one, `C37` all that have it.
  const constraintsOf = (typed) => {
    const id = /^(?:(\w+)[/ ])?c(\d{1,3})$/.exec(typed);
    if (!id) return [];
    const having = rows.filter((row) => row.constraints >= +id[2] && +id[2] && (!id[1] || row.name.toLowerCase() === id[1]));
    return having.map(({ name, address }) => ({
      name: `${name}/C${id[2]}`, kind: "constraint", address: `${address}#C${id[2]}`,
    }));
  };
  // Where nothing is alike: what has any of the words, or else what is spelt least differently.
  const nearest = (query, words) => {
    const any = rows.filter((row) => words.some((word) => row.words.includes(word)));
    if (any.length) return any;
    const near = rows.map((row) => [distance(query, row.key.slice(0, 40), 40) / Math.max(query.length, row.key.length), row]);
    return near.sort((a, b) => a[0] - b[0]).slice(0, 3).map(([, row]) => row);
  };
  const find = () => {
    list.textContent = "";
    const asked = input.value.trim().toLowerCase().replace(/^dml_(operator_)?/, "");
    if (!fold(asked)) { said.textContent = ""; return; }
    const kept = wordsOf(asked).filter((word) => !EMPTY.has(word));
    const isQuestion = kept.length && kept.length < wordsOf(asked).length;
    const typed = isQuestion ? asked.split(/\s+/).filter((word) => !EMPTY.has(fold(word)) && fold(word).length > 2).join(" ") : asked;
    const query = fold(typed);
    const words = kept.length ? kept : wordsOf(typed);
    const found = rows
      .map((row, at) => [score(row, typed, query, words), row.name.length, at, row])
      .filter(([points]) => points < 9)
      .sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2])
      .map(([, , , row]) => row);
    const alike = [...constraintsOf(asked), ...found];
    const hits = (alike.length ? alike : nearest(query, words)).slice(0, MOST);
    for (const row of hits) {
      const item = document.createElement("li");
      const link = document.createElement("a");
      const small = document.createElement("small");
      link.href = row.address;
      for (const part of row.name.split(/(?<=_)/)) link.append(part, document.createElement("wbr"));
      small.textContent = row.kind;
      link.append(small);
      item.append(link);
      list.append(item);
    }
    said.textContent = alike.length ? `${hits.length} results` : "Nothing is called so; the nearest:";
  };
  input.oninput = input.onfocus = find;
  box.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget && !box.contains(relatedTarget)) list.textContent = "";
  });
  input.onkeydown = (event) => {
    if (event.key === "Enter") list.querySelector("a")?.click();
    if (event.key === "ArrowDown") { event.preventDefault(); list.querySelector("a")?.focus(); }
    if (event.key === "Escape") { input.value = ""; find(); }
  };
  list.onkeydown = (event) => {
    const all = [...list.querySelectorAll("a")];
    const at = all.indexOf(document.activeElement);
    if (event.key === "ArrowDown") { event.preventDefault(); all[Math.min(at + 1, all.length - 1)].focus(); }
    if (event.key === "ArrowUp") { event.preventDefault(); (at ? all[at - 1] : input).focus(); }
    if (event.key === "Escape") input.focus();
  };
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || /INPUT|TEXTAREA/.test(document.activeElement.tagName)) return;
    event.preventDefault();
    input.focus();
  });
})();
