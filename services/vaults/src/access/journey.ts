import { ServiceError } from "@coffer/errors";
import type { PersonRow, Traveller } from "../store/people.ts";

/**
 * The person, whose journey the caller may begin or end: not a manager one that began before the manager had
 * the right to change it.
 * @param standingSince since when the manager has had the role and the person the membership;
 *   undefined for the person themselves
 * @throws ServiceError `access_denied`
 */
export function changeableJourney(person: PersonRow, standingSince: string | undefined): Traveller {
  const traveller = person as Traveller; // Only returned after the checks.
  if (standingSince === undefined || !person.travelling || person.travel_changed_at === null) return traveller;
  if (Date.parse(person.travel_changed_at) > Date.parse(standingSince)) return traveller;
  throw new ServiceError(
    "access_denied",
    "the member has travelled since before you had this role, or before they joined: only the member can turn travel mode off",
  );
}
