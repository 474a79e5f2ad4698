import { ServiceError } from "@coffer/errors";
import type { PersonRow } from "../store/people.ts";

/**
 * Refuses the change of a journey that began before its manager had the right to change it.
 * @param standingSince since when the manager has had the role and the person the membership
 * @throws ServiceError `access_denied`
 */
export function requireYoungerJourney(person: PersonRow | undefined, standingSince: string): void {
  if (person?.travelling !== true || person.travel_changed_at === null) return;
  if (Date.parse(person.travel_changed_at) > Date.parse(standingSince)) return;
  throw new ServiceError(
    "access_denied",
    "the member has travelled since before you had this role, or before they joined: only the member can turn travel mode off",
  );
}
