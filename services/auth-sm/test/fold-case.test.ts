import t from "tap";
import { foldCase } from "../src/fold-case.ts";

await t.test("upper and lower case are alike, also where a letter has two of the one", (t) => {
  const alike = [
    ["ΟΔΟΣ", "οδος", "οδοσ"],
    ["H\u0331", "h\u0331", "\u1e96"],
    ["ÄPFEL", "äpfel", "A\u0308pfel"],
    ["КЛЮЧ", "ключ"],
    ["Ｋｅｙ", "\u212aEY", "key"],
  ];
  for (const [first = "", ...others] of alike) {
    for (const other of others) t.equal(foldCase(other), foldCase(first), other);
  }
  t.equal(foldCase("ΟΔΟΣΑ").startsWith(foldCase("ΟΔΟΣ")), true, "the beginning of a word is that of its folded form");
  t.end();
});

await t.test("letters that differ in more than case stay apart", (t) => {
  const apart = ["a", "ä", "å", "o", "ο", "о", "σ", "s"].map(foldCase);
  t.equal(new Set(apart).size, apart.length);
  t.end();
});

await t.test("folding is idempotent, and does not change lower-case text", (t) => {
  const wrong: string[] = [];
  for (let point = 1; point < 0x110000; point += 1) {
    if (point >= 0xd800 && point < 0xe000) continue;
    const letter = String.fromCodePoint(point);
    for (const text of [letter, `${letter}\u0331`, `${letter}\u0308`]) {
      const folded = foldCase(text);
      if (foldCase(folded) !== folded || foldCase(text.toLowerCase()) !== folded) wrong.push(point.toString(16));
    }
  }
  t.strictSame(wrong, []);
  t.end();
});
