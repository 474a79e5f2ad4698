import { until } from "@coffer/testkit";
import { call } from "./call.ts";
import type { Person } from "./people.ts";
import type { TestVaults } from "./service.ts";

/** Ends a person's session, and waits until the service refuses it. */
export async function logOut(service: TestVaults, person: Person): Promise<void> {
  await service.people.revoke(person);
  await until("the session is refused", async () => (await call(service, person, "GET", "/api/vaults")).status === 401);
}
