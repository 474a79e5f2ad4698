import { CofferError } from "@coffer/sdk";
import t from "tap";
import { explain } from "../../src/output/explain.ts";

await t.test("a message about a size names the limit in the user's terms", (t) => {
  const tooLarge = (details?: { field: string; issue: string }[]): CofferError =>
    new CofferError("payload_too_large", "encrypted_data is too large", { status: 413, details });
  t.same(explain(tooLarge([{ field: "encrypted_data", issue: "longer than 256 KiB" }])), [
    "the record, when it is sealed: longer than 256 KiB",
  ]);
  t.same(explain(tooLarge([{ field: "constructor", issue: "too long" }])), ["constructor: too long"]);
  t.same(explain(tooLarge()), ["that is more than the service takes at once"]);
  t.end();
});
