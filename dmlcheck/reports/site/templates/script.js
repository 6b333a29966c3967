// Everything on the page works without this: it adds tabs, copying and the search box.
(() => {
  document.querySelectorAll("[data-tabs]").forEach((group) => {
    const panels = [...group.querySelectorAll(":scope > [data-tab]")];
    const bar = document.createElement("div"); bar.className = "tabs"; bar.setAttribute("role", "tablist"); bar.setAttribute("aria-label", group.dataset.tabs);
    const show = (i, focus) => { panels.forEach((p, n) => { p.hidden = n !== i; bar.children[n].setAttribute("aria-selected", n === i); bar.children[n].tabIndex = n === i ? 0 : -1; }); if (focus) bar.children[i].focus(); };
    panels.forEach((panel, i) => {
      const b = document.createElement("button"); b.type = "button"; b.textContent = panel.dataset.tab; b.setAttribute("role", "tab");
      b.id = `${group.id}-t${i}`; panel.id = `${group.id}-p${i}`; b.setAttribute("aria-controls", panel.id); panel.setAttribute("role", "tabpanel"); panel.setAttribute("aria-labelledby", b.id);
      panel.querySelector(":scope > h3")?.remove(); b.onclick = () => show(i); bar.append(b);
    });
    bar.onkeydown = (e) => { const at = [...bar.children].indexOf(document.activeElement), n = panels.length; const to = {ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: n - 1}[e.key]; if (to !== undefined) { e.preventDefault(); show((to + n) % n, true); } };
    group.prepend(bar); show(0);
  });
  document.querySelectorAll(".code").forEach((box) => {
    if (!navigator.clipboard) return;
    const b = document.createElement("button"); b.type = "button"; b.textContent = "Copy"; b.onclick = async () => { await navigator.clipboard.writeText(box.querySelector("pre").textContent); b.textContent = "Copied"; setTimeout(() => (b.textContent = "Copy"), 1500); }; box.append(b);
  });
  const toc = document.querySelector(".toc details"); if (toc) toc.open = matchMedia("(min-width: 62rem)").matches;
  const input = document.querySelector("#q"), list = document.querySelector("#hits"), said = document.querySelector("#said");
  if (!input || typeof INDEX === "undefined") return;
  input.closest(".find").hidden = false;
  const fold = (s) => s.toLowerCase().replace(/[_\s-]+/g, "");
  const rows = INDEX.map(([name, what, url, words]) => ({name, what, url, key: fold(name), more: fold(what + " " + (words || ""))}));
  const score = (r, q) => r.key === q ? 0 : r.key.startsWith(q) ? 1 : r.key.includes(q) ? 2 : r.more.includes(q) ? 3 : 9;
  const find = () => {
    list.textContent = ""; const q = fold(input.value.replace(/^DML_(OPERATOR_)?/i, "")); if (!q) { said.textContent = ""; return; }
    const hits = rows.map((r) => [score(r, q), r]).filter(([s]) => s < 9).sort((a, b) => a[0] - b[0] || a[1].name.length - b[1].name.length).slice(0, 12);
    for (const [, r] of hits) { const li = document.createElement("li"), a = document.createElement("a"), s = document.createElement("small"); a.href = r.url; a.textContent = r.name; s.textContent = r.what; a.append(s); li.append(a); list.append(li); }
    said.textContent = hits.length ? `${hits.length} results` : "No results";
  };
  input.oninput = find;
  input.onkeydown = (e) => { if (e.key === "Enter") list.querySelector("a")?.click(); if (e.key === "ArrowDown") { e.preventDefault(); list.querySelector("a")?.focus(); } if (e.key === "Escape") { input.value = ""; find(); } };
  list.onkeydown = (e) => { const all = [...list.querySelectorAll("a")], at = all.indexOf(document.activeElement); if (e.key === "ArrowDown") { e.preventDefault(); all[Math.min(at + 1, all.length - 1)].focus(); } if (e.key === "ArrowUp") { e.preventDefault(); at ? all[at - 1].focus() : input.focus(); } if (e.key === "Escape") input.focus(); };
  document.addEventListener("keydown", (e) => { if (e.key === "/" && !/INPUT|TEXTAREA/.test(document.activeElement.tagName)) { e.preventDefault(); input.focus(); } });
})();
