// The rule of dmlcheck/specs/ranking.py: a change of one is a change of the other, and a test asks both the same.
// INDEX has [name, line about it, address, other names, other words, ids of constraints and errata] of each entry.
const search = (() => {
  const keyOf = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, "");
  const wordsOf = (text) => text.toLowerCase().split(/[^a-z0-9]+/).filter((word) => word.length > 2);
  const bareOf = (asked) => asked.trim().toLowerCase().replace(/^dml_(operator_)?/, "");
  const entries = INDEX.map(([name, text, address, names = "", words = "", labels = ""]) => ({
    name, text, address, key: keyOf(bareOf(name)), names: names.split(" ").map(keyOf), parts: wordsOf(name),
    words: wordsOf(`${name} ${names} ${words}`), all: `${name} ${text} ${names} ${words}`.toLowerCase(),
    labels: labels.split(" "),
  }));

  const queryOf = (asked) => {
    const typed = bareOf(asked);
    const words = wordsOf(typed);
    const kept = words.filter((word) => !EMPTY_WORDS.includes(word));
    const text = kept.length && kept.length < words.length ? kept.join(" ") : typed;
    return { text, key: keyOf(text), tokens: text.split(/\s+/).map(keyOf).filter(Boolean), words: kept.length ? kept : words };
  };

  // How many letters are wrong, missing, too many or swapped with the next; of more than `most`, any number.
  const distance = (a, b, most) => {
    if (Math.abs(a.length - b.length) > most) return most + 1;
    let before = [], above = [...Array(b.length + 1).keys()];
    for (let i = 1; i <= a.length; i++) {
      const row = [i];
      for (let j = 1; j <= b.length; j++) {
        row.push(Math.min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] !== b[j - 1])));
        const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
        if (isSwap) row[j] = Math.min(row[j], before[j - 2] + 1);
      }
      [before, above] = [above, row];
    }
    return above[b.length];
  };

  const has = (entry, word) =>
    entry.all.includes(word) || (word.length > 4 && entry.words.some((own) => distance(word, own, 1) <= 1));

  const rank = (entry, { text, key, tokens, words }) => {
    if (entry.key === key) return 0;
    if (entry.names.includes(key)) return entry.key.includes(key) ? 1 : 2;
    if (tokens.length > 1 && entry.labels[0] && tokens.includes(entry.key)) return 3;
    if (entry.key.startsWith(key)) return 4;
    if (key.length > 2 && entry.key.includes(key)) return 5;
    if (entry.names.some((name) => name.startsWith(key))) return 6;
    if (words.length > 1) {
      const share = words.filter((word) => has(entry, word)).length / words.length;
      const isNamed = entry.names.some((name) => tokens.includes(name));
      return share >= 0.5 ? 9 - share - 0.25 * isNamed : null;
    }
    if (entry.words.includes(key)) return 7;
    if (key.length > 3 && entry.names.some((name) => name.includes(key))) return 8;
    return text.length > 2 && entry.all.includes(text) ? 9 : null;
  };

  const slips = (entry, { key }) => {
    const most = key.length > 5 ? 2 : key.length > 3 ? 1 : 0;
    const whole = [entry.key, ...entry.names].map((name) => distance(key, name, most));
    const parts = entry.parts.map((part) => distance(key, part, most) + 0.5);
    const least = Math.min(...whole, ...parts);
    return least < most + 1 ? least : null;
  };

  const ranked = (query, how) =>
    !query.key ? [] : entries
      .map((entry, at) => ({ name: entry.name, text: entry.text, address: entry.address, at, rank: how(entry, query) }))
      .filter((one) => one.rank !== null)
      .sort((a, b) => a.rank - b.rank || a.name.length - b.name.length || a.at - b.at);

  const labelled = (asked) => {
    const [, name, label] = /^(?:([a-z0-9_]+)[/ ])?([ce]\d{1,3})$/.exec(bareOf(asked)) || [];
    return !label ? [] : entries
      .filter((entry) => entry.labels.includes(label.toUpperCase()) && (!name || entry.name.toLowerCase() === name))
      .map((entry) => ({
        name: `${entry.name}/${label.toUpperCase()}`, address: `${entry.address}#${label.toUpperCase()}`,
        text: label[0] === "c" ? "constraint" : "correction",
      }));
  };

  return (asked) => {
    const queries = [queryOf(asked), queryOf(asked.slice(asked.lastIndexOf(".") + 1))];
    let found = labelled(asked);
    for (const how of [rank, slips])
      for (const query of queries)
        if (!found.length) found = ranked(query, how);
    return found;
  };
})();
