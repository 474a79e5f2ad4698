import t from "tap";
import { cacheKey, hiddenPinKey, newId, newKey } from "../src/index.ts";

await t.test("the key of a hidden vault's pin depends on the user key and the vault's id", async (t) => {
  const [userKey, id] = [newKey(), newId()];
  const key = await hiddenPinKey(userKey, id);
  t.equal(key.length, 32);
  t.same(await hiddenPinKey(userKey, id), key);
  const others = [await hiddenPinKey(userKey, newId()), await hiddenPinKey(newKey(), id), await cacheKey(userKey)];
  for (const other of others) t.notSame(other, key);
});
