import { signal } from "@preact/signals";
import { m } from "../messages/messages.ts";
import type { OrganizationsView } from "../protocol/people.ts";
import { toast } from "./parts/toast.tsx";
import { go } from "./router.ts";
import { call, state } from "./store.ts";
import { mayLeave } from "./use-unsaved.ts";

/** The person's organizations, as they were last read. */
export const organizations = signal<OrganizationsView>({ organizations: [], current: null });

/** Reads them again. An organization that the person is not in any more is no choice. */
export async function refreshOrganizations(): Promise<void> {
  const before = state.value.settings.organization;
  const view = await call("organizations");
  if (before !== state.value.settings.organization) return;
  organizations.value = view;
  if (before === "" || view.organizations.some(({ id }) => id === before)) return;
  await call("changeSettings", { organization: "" });
  toast(m.organizationLeft);
}

/** Lets the screens of all tabs show this organization. Returns false if the person keeps unsaved input instead. */
export function chooseOrganization(id: string): boolean {
  if (!mayLeave()) return false;
  void call("changeSettings", { organization: id }).then(() => go({ openId: null }));
  return true;
}
