import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { fileURLToPath } from "node:url";
import t from "tap";

const source = (path: string): string => fileURLToPath(new URL(`../src/${path}`, import.meta.url));

/** All modules of this package that one of them loads, itself included, and what they load from elsewhere. */
function reach(entry: string): { modules: Map<string, string>; foreign: Set<string> } {
  const modules = new Map<string, string>();
  const foreign = new Set<string>();
  const waiting = [source(entry)];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (modules.has(path)) continue;
    const code = stripTypeScriptTypes(readFileSync(path, "utf8"));
    modules.set(path, code);
    for (const [, name = ""] of code.matchAll(/\b(?:from|import)\s*\(?\s*"([^"]+)"/g))
      if (name.startsWith(".")) waiting.push(fileURLToPath(new URL(name, `file://${path}`)));
      else foreign.add(name);
  }
  return { modules, foreign };
}

for (const [entry, allowed] of [
  ["index.ts", ["@coffer/contract", "@coffer/crypto", "@coffer/history"]],
  ["people/account.ts", ["@coffer/contract", "@coffer/crypto", "@coffer/crypto/opaque", "@coffer/history"]],
  ["browser/index.ts", []],
] as const)
  await t.test(
    `${entry} loads nothing but the contract, the cryptography and histories, and uses nothing of Node's own`,
    (t) => {
      const { modules, foreign } = reach(entry);
      t.ok(modules.size > 1);
      t.same([...foreign].sort(), [...allowed]);
      for (const [path, code] of modules) t.notMatch(code, /\b(?:process|Buffer|require|__dirname)\b[.(]/, path);
      t.end();
    },
  );

await t.test("the part for Node is apart, and is the only one that knows files", (t) => {
  t.match([...reach("node/index.ts").foreign].join(), /node:fs/);
  t.end();
});
