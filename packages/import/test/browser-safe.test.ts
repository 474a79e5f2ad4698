import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { fileURLToPath } from "node:url";
import t from "tap";

/** All modules that the entry of this package loads, also later, and the packages that they import. */
function reach(entry: string): { modules: Map<string, string>; foreign: Set<string> } {
  const modules = new Map<string, string>();
  const foreign = new Set<string>();
  const waiting = [fileURLToPath(new URL(`../src/${entry}`, import.meta.url))];
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

await t.test(
  "it loads nothing but the cryptography and libraries for browsers, and uses nothing of Node's own",
  (t) => {
    const { modules, foreign } = reach("index.ts");
    t.ok(modules.size > 30);
    t.strictSame([...foreign].sort(), [
      "@coffer/crypto",
      "@rgrove/parse-xml",
      "@zip.js/zip.js",
      "csv-parse/browser/esm/sync",
    ]);
    for (const [path, code] of modules) t.notMatch(code, /\b(?:process|Buffer|require|__dirname)\b[.(]/, path);
    t.end();
  },
);
