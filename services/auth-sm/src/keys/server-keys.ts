import type { Deps } from "../deps.ts";
import type { OpaqueSetupRow } from "../store/accounts/server-keys.ts";
import { type KeyRing, makeKeys, readKeyRing } from "./key-ring.ts";

/**
 * The service's own keys: stored in Postgres, shared by its replicas, read again every two seconds.
 */
export interface ServerKeys {
  /**
   * The keys as this replica knows them. Throws ServiceError `unavailable` when they were never
   * read.
   */
  present(): Promise<KeyRing>;
  /**
   * The keys as they are now, for a key id that this replica does not know. Queries Postgres at
   * most once a second.
   */
  latest(): Promise<KeyRing>;
  /**
   * The OPAQUE setup by its id. Throws an Error when a record or start names a setup that does not
   * exist.
   */
  setup(id: number): Promise<OpaqueSetupRow>;
  close(): void;
}

const readMilliseconds = 2000;
const queryMilliseconds = 1000;

/**
 * Reads the keys on first use, and creates them when there are none. Postgres may be unavailable
 * until then.
 */
export function loadServerKeys(deps: Pick<Deps, "database" | "now" | "randomBytes" | "telemetry">): ServerKeys {
  const { telemetry } = deps;
  let ring: KeyRing | null = null;
  let reading: Promise<KeyRing> | null = null;
  let readAt = -Infinity;

  const read = (): Promise<KeyRing> => {
    reading ??= readOrMake(deps)
      .then((found) => {
        readAt = performance.now();
        return (ring = found);
      })
      .finally(() => (reading = null));
    return reading;
  };
  const timer = setInterval(() => {
    if (ring === null) return;
    read().catch((error: unknown) => telemetry.log.debug({ err: error }, "cannot read the service's keys again"));
  }, readMilliseconds);
  timer.unref();

  const present = async (): Promise<KeyRing> => ring ?? read();
  return {
    present,
    latest: async () => (ring !== null && performance.now() - readAt < queryMilliseconds ? ring : read()),
    async setup(id) {
      const of = ({ setups }: KeyRing): OpaqueSetupRow | undefined => setups.find((setup) => setup.id === id);
      const found = of(await present()) ?? of(await read());
      if (found === undefined) throw new Error(`a record names the OPAQUE setup ${id}, which is gone`);
      return found;
    },
    close: () => clearInterval(timer),
  };
}

async function readOrMake(deps: Parameters<typeof makeKeys>[0]): Promise<KeyRing> {
  const found = await readKeyRing(deps);
  if (found !== null) return found;
  await makeKeys(deps);
  const made = await readKeyRing(deps);
  if (made === null) throw new Error("the service's keys are gone as soon as they are made");
  return made;
}
