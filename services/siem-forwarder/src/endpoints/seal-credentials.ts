import type { SiemCredentials } from "../credentials/credentials.ts";
import type { Deps } from "../deps.ts";

/** Seals the credentials of an endpoint; opened they can be for the same endpoint only. */
export function sealCredentials({ sealer }: Pick<Deps, "sealer">, id: string, credentials: SiemCredentials): string {
  return sealer.seal(JSON.stringify(credentials), id);
}

/** The credentials of an endpoint; null when the key that sealed them is not among the keys. */
export function openCredentials({ sealer }: Pick<Deps, "sealer">, id: string, sealed: string): SiemCredentials | null {
  const text = sealer.open(sealed, id);
  return text === null ? null : (JSON.parse(text) as SiemCredentials); // sealed above, and authentic
}
