import type { Deps } from "../deps.ts";
import { findPerson } from "../store/people.ts";

export interface TravelMode {
  enabled: boolean;
  updated_at: string;
}

/** For a person who never travelled. */
const neverChanged = "1970-01-01T00:00:00.000000Z";

/** Whether a person travels: the reply to `travelModeOf`. */
export async function showTravelMode(deps: Pick<Deps, "database">, userId: string): Promise<TravelMode> {
  return travelModeView(await findPerson(deps.database.pool, userId));
}

/** A person's travel mode for other services; null for an unknown person. */
export function travelModeView(person: { travelling: boolean; travel_changed_at: string | null } | null): TravelMode {
  return { enabled: person?.travelling ?? false, updated_at: person?.travel_changed_at ?? neverChanged };
}
