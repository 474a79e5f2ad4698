import { loadedPackages } from "@coffer/testkit";
import t from "tap";

void t.test("a service without tables does not load a Postgres client", (t) => {
  const loaded = loadedPackages(new URL("../src/service.ts", import.meta.url));
  t.ok(loaded.includes("@coffer/bus"));
  t.notOk(
    loaded.some((name) => /postgres|slonik|^pg/.test(name)),
    loaded.join(" "),
  );
  t.end();
});
