import type { Head } from "@coffer/history";
import t from "tap";
import { type Left, mergeLeft } from "../../src/histories/left.ts";

const left = (who: string, at: number, until: number | null, key = "k1"): Left => {
  const head: Head | null = until === null ? null : { seq: until, hash: `h${until}` };
  return { who: `user:${who}`, key, at, until: head };
};

await t.test("what two devices know of former members merges to the same in any order", (t) => {
  const cases: [Left[], Left[], Left[], string][] = [
    [[left("m", 4, 7)], [left("m", 4, 5)], [left("m", 4, 5)], "of one departure the earlier pin"],
    [[left("m", 4, 5)], [left("m", 9, 8)], [left("m", 9, 8)], "the later departure"],
    [[left("m", 4, 5)], [left("m", 6, null)], [left("m", 6, null)], "a cut that the organization stated since"],
    [[left("m", 6, null)], [left("m", 9, 8)], [left("m", 9, 8)], "a departure after it"],
    [[left("m", 4, 5)], [left("m", 4, 5, "k2")], [left("m", 4, 5), left("m", 4, 5, "k2")], "by key"],
    [[left("m", 4, 5)], [left("a", 2, 3)], [left("a", 2, 3), left("m", 4, 5)], "in the order of the entries"],
    [[left("n", 4, 5)], [left("m", 4, 3)], [left("m", 4, 3), left("n", 4, 5)], "and of the people"],
    [[], [left("m", 4, 5)], [left("m", 4, 5)], "what only one knows"],
  ];
  for (const [one, other, merged, why] of cases) {
    t.same(mergeLeft(one, other), merged, why);
    t.same(mergeLeft(other, one), merged, `${why}, in the other order`);
  }
  t.end();
});
