import t from "tap";
import { startOrganizationServer } from "./organization-server.ts";

await t.test("travel status says whether one travels, whenever that was switched", async (t) => {
  const server = await startOrganizationServer(t);
  for (const [enabled, at, said] of [
    [false, "1970-01-01T00:00:00Z", "off\n"],
    [true, "1970-01-01T00:00:00Z", "on\n"],
    [true, "2026-11-20T10:00:00Z", "on since 2026-11-20T10:00:00Z\n"],
  ] as const) {
    server.travel = { enabled, updated_at: at };
    t.equal((await server.run(["travel", "status"])).stdout, said);
  }
});
