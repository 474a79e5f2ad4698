import t from "tap";
import { limitPerKey } from "../src/answers/limit-per-key.ts";

void t.test(
  "two calls of a key run at a time, in order; those of another key, and after a failure, at once",
  async (t) => {
    const limit = limitPerKey(2);
    const log: string[] = [];
    const open = new Map<string, PromiseWithResolvers<string>>();
    const start = (key: string, name: string): Promise<string> =>
      limit(key, () => {
        log.push(name);
        const ending = Promise.withResolvers<string>();
        open.set(name, ending);
        return ending.promise;
      });
    const [a, b, c] = [start("one", "a"), start("one", "b"), start("one", "c")];
    const d = start("other", "d");
    await new Promise(setImmediate);
    t.same(log, ["a", "b", "d"]);
    open.get("b")?.reject(new Error("b failed"));
    await t.rejects(b, { message: "b failed" });
    t.same(log, ["a", "b", "d", "c"]);
    for (const name of ["a", "c", "d"]) open.get(name)?.resolve(name);
    t.same(await Promise.all([a, c, d]), ["a", "c", "d"]);
  },
);
