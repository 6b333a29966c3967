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

  // ---- the box of the search; `search` and LISTS are in search.js

  const input = document.querySelector("#query");
  const list = document.querySelector("#hits");
  const said = document.querySelector("#said");
  if (!input || typeof search === "undefined") return;
  const box = input.closest(".find");
  box.hidden = false;
  const MOST = 12;
  const find = () => {
    list.textContent = "";
    said.textContent = "";
    if (!/[a-z0-9]/i.test(input.value)) return;
    const found = search(input.value).slice(0, MOST);
    const lists = LISTS.map(([name, text, address]) => ({ name, text, address }));
    for (const { name, text, address } of found.length ? found : lists) {
      const item = document.createElement("li");
      const link = document.createElement("a");
      const small = document.createElement("small");
      link.href = address;
      for (const part of name.split(/(?<=_)/)) link.append(part, document.createElement("wbr"));
      small.textContent = text;
      link.append(small);
      item.append(link);
      list.append(item);
    }
    said.textContent = found.length ? `${found.length} results` : "Nothing is called so; these pages list what there is.";
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
