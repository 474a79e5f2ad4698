import { randomUUID } from "node:crypto";
import { until } from "@coffer/testkit";
import type { RecordEvent } from "../../src/pushes/push.ts";
import type { Person } from "./auth-sm.ts";
import type { Device } from "./device.ts";
import type { Sync } from "./start.ts";
import { moment } from "./vaults.ts";

/** A device with its person. */
export type Viewer = Device & { userId: string };

/** An event of an updated record. */
export function recordEvent(vaultId: string, record_id: string, updated_at = moment()): RecordEvent {
  return { vault_id: vaultId, changes: [{ action: "record_updated", record_id, updated_at }] };
}

/** Helpers for tests of pushes. */
export function createViewers({ authSm, vaults, connect }: Pick<Sync, "authSm" | "vaults" | "connect">) {
  return {
    /** A device after its first sync, of a viewer of `vaultId`: a new person by default. */
    async viewer(vaultId: string, person: Person = authSm.person()): Promise<Viewer> {
      const known = vaults.viewers.get(vaultId) ?? [];
      if (!known.includes(person.userId)) vaults.viewers.set(vaultId, [...known, person.userId]);
      const device = await connect(person);
      await device.sync();
      return { ...device, userId: person.userId };
    },
    /** All pushes of a device up to one that is published now, without that one. */
    async pushesUpTo(device: Viewer): Promise<Device["messages"]> {
      const [vaultId, mark] = [randomUUID(), `mark ${randomUUID()}`];
      vaults.viewers.set(vaultId, [device.userId]);
      await vaults.publish(recordEvent(vaultId, mark));
      await until("the mark is there", () => device.pushes().some(({ record_id }) => record_id === mark));
      return device.pushes().filter(({ record_id }) => !String(record_id).startsWith("mark"));
    },
  };
}
