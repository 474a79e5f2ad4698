import type { PersonClient } from "@coffer/sdk";
import type { TravelView } from "../protocol/travel.ts";
import type { Workspace } from "./workspace.ts";

export async function travelView(client: PersonClient): Promise<TravelView> {
  const [mode, sessions] = await Promise.all([client.travel.status(), client.sessions.list()]);
  const devices = sessions.map(({ device, last_used_at: lastUsedAt, current }) => {
    return { name: device.name, lastUsedAt, current };
  });
  // 1970: it was never switched.
  return { enabled: mode.enabled, since: Date.parse(mode.updated_at) === 0 ? null : mode.updated_at, devices };
}

export async function startTravel({ client }: Workspace): Promise<TravelView> {
  await client.travel.start();
  await client.travel.forgetHidden();
  return travelView(client);
}
