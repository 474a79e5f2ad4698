import { newId } from "@coffer/service";
import t from "tap";

await t.test("an id is a UUIDv7 of the present time, and unique", (t) => {
  const before = Date.now();
  const ids = Array.from({ length: 2000 }, newId);
  const after = Date.now();
  t.equal(new Set(ids).size, ids.length);
  for (const id of ids) {
    if (!/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id)) t.fail(id);
    const time = Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16);
    if (time < before || time > after) t.fail(`${id} is of ${time}`);
  }
  t.end();
});
