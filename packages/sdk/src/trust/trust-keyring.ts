import { type Fingerprint, fingerprint } from "@coffer/crypto";
import type { Resource } from "@coffer/history";
import { CofferError, type CofferErrorCode } from "../errors.ts";
import { type Histories, hasSamePins, histories } from "../histories/histories.ts";
import { mergeLeft, withDepartures } from "../histories/left.ts";
import { personSelf } from "../histories/self.ts";
import type { Send } from "../http/transport.ts";
import type { PersonSession } from "../people/person-session.ts";
import { dataOf } from "../http/list-answer.ts";
import { allPages } from "../vaults/vault-store.ts";
import type { VaultView } from "../vaults/views.ts";
import type { AccountView, FolderView } from "../views.ts";
import { labelOf } from "./confirmed-key.ts";
import { endedAfter } from "./ended.ts";
import { goesBack } from "./goes-back.ts";
import { changing } from "./held-trust.ts";
import { acceptedIn, writeKeyring } from "./keyring.ts";
import { knownAsAfter } from "./known-as.ts";
import { emptyTrust, memoryTrust, type TrustRecord } from "./trust-storage.ts";
import type { VaultPins } from "./vault-pins.ts";

/** A history that a person sees before trusting it. */
export interface Trustworthy {
  res: Resource;
  name: string;
  /** The e-mail of the newest signer, and the fingerprint to compare with that person. */
  signer: string;
  fingerprint: Fingerprint;
}

/** A history of which the service shows less than this device has seen, or something else. */
export interface LeftAsKnown {
  res: Resource;
  /** As this device knows it. */
  name: string;
}

/**
 * Replaces the keyring by what the service shows: every organization, folder and shared vault of
 * the person, each verified from entry 0. `ask` receives everything that can be verified, with
 * words to compare. The device keeps its earlier pins until `ask` has said yes, also when the
 * process ends meanwhile, and always those of what was not shown: the service could hide a folder
 * now, and show an older state of it later. Throws CofferError `access_denied` when the person does not trust it.
 * @returns what stays as this device knows it, because the service shows an older or another state
 */
export async function trustKeyring(
  send: Send,
  session: PersonSession,
  own: Histories,
  pins: VaultPins,
  ask: (shown: readonly Trustworthy[]) => Promise<boolean>,
): Promise<LeftAsKnown[]> {
  const { organizations } = (await send({ method: "GET", path: "/api/account" })).body as AccountView;
  const vaults = (await allPages<VaultView>(send, "/api/vaults")).filter(({ history_seq: seq }) => seq != null);
  // What this device knows of a vault that was hidden counts too.
  for (const { id } of vaults) await pins.recall(id);
  const before = await own.stored();
  const draft = await draftOf(own, session, before);
  const shown: Trustworthy[] = [];
  for (const { id } of organizations) shown.push(...(await showOrganization(send, draft, id)));
  for (const { id, org_id: org } of vaults) shown.push(...(await show(draft, `vault:${id}`, org ?? "")));
  const trusted = await draft.record();
  const left: LeftAsKnown[] = [];
  for (const { state } of Object.values(trusted.resources))
    if (state !== null && (await goesBack(own, state)) !== undefined)
      left.push({ res: state.res, name: (await own.known(state.res))?.state?.name ?? state.name });
  // An older state of an organization does not say who may sign in its folders and vaults.
  const isLeft = (of: string): boolean =>
    left.some(({ res }) => res === of || res === `org:${trusted.resources[of]?.state?.org ?? ""}`);
  const asked = shown.filter(({ res }) => !isLeft(res));
  if (asked.length > 0 && !(await ask(asked)))
    throw new CofferError("access_denied", "what the service shows was not confirmed: nothing was trusted");
  const keyring = (await presentVersion(send)) + 1;
  const withShown = (present: TrustRecord): TrustRecord => {
    const resources = { ...present.resources };
    for (const [res, shownNow] of Object.entries(trusted.resources)) {
      const { state } = shownNow;
      if (state === null || isLeft(res)) continue;
      const there = resources[res];
      // The person has answered about what was known before the question.
      if (!hasSamePins(there, before.resources[res])) throw changing(res);
      const ended = endedAfter(there, { state, set: [] }, present.revoked);
      const left = mergeLeft(there?.left, shownNow.left);
      const { removed, took } = there ?? {};
      const used = { accepted: removed !== true, removed, took, known_as: knownAsAfter(there, state.name) };
      // Something else may have been learned of former members meanwhile: the signers are checked again.
      const after = { ...shownNow, ended, left, checked_by: undefined, ...used };
      resources[res] = withDepartures(there, after, []);
    }
    return { ...present, resources, keyring, listed: acceptedIn(resources), unsaved: false };
  };
  if (!(await writeKeyring(send, session, keyring, withShown(await own.stored()))))
    throw new CofferError("conflict", "the service does not show the keyring that this device wrote: try again");
  await own.changeRecord(withShown);
  for (const view of vaults) await pins.overwrite(view);
  await pins.save();
  return left;
}

/** Histories that are kept in memory, and of which only the former members are known before. */
async function draftOf({ read }: Histories, session: PersonSession, { resources }: TrustRecord): Promise<Histories> {
  const { who } = await personSelf(session);
  const former = Object.entries(resources).flatMap(([res, { pin, left, checked_at }]) =>
    res.startsWith("org:") ? [] : [[res, { pin, state: null, accepted: false, left, checked_at }] as const],
  );
  return histories({
    storage: memoryTrust({ ...emptyTrust(), resources: Object.fromEntries(former) }),
    read,
    self: () => Promise.resolve(who),
    accepts: () => Promise.resolve(false),
    organizations: true,
  });
}

async function showOrganization(send: Send, draft: Histories, id: string): Promise<Trustworthy[]> {
  const headers = { "x-coffer-org": id };
  const resources: Resource[] = [`org:${id}`];
  const views = dataOf<FolderView>(await send({ method: "GET", path: "/api/org/folders", headers }));
  for (const view of views)
    if (view.history_seq != null && view.permission !== null) resources.push(`folder:${view.id}`);
  const shown: Trustworthy[] = [];
  for (const res of resources) shown.push(...(await show(draft, res, id)));
  return shown;
}

/** One history, verified from entry 0; empty without a history. */
async function show(draft: Histories, res: Resource, organizationId: string): Promise<Trustworthy[]> {
  const shown: Trustworthy[] = [];
  await draft
    .restart(res, async ({ state, signer }) => {
      if (signer === undefined) throw new CofferError("bad_answer", `the service shows no signer of ${res}`);
      const organization = res.startsWith("org:") ? state : (await draft.known(`org:${organizationId}`))?.state;
      const label = organization == null ? signer.by : labelOf(organization, signer.by);
      shown.push({ res, name: state.name, signer: label, fingerprint: await fingerprint(signer.key) });
    })
    .catch((error: unknown) => {
      // An organization without a history has nothing to trust. An unverifiable folder or vault
      // is not trusted.
      const left: ReadonlySet<CofferErrorCode> = res.startsWith("org:") ? new Set(["no_history"]) : unverified;
      if (!(error instanceof CofferError) || !left.has(error.code)) throw error;
    });
  return shown;
}

/** The errors of a single folder or vault, which must not block the others. */
const unverified: ReadonlySet<CofferErrorCode> = new Set([
  "no_history",
  "history_invalid",
  "signer_removed",
  "history_rolled_back",
  "history_forked",
  // The caller lost access after the service listed it.
  "not_found",
  "access_denied",
]);

/** The version of the keyring on the service, whether or not it opens. */
async function presentVersion(send: Send): Promise<number> {
  try {
    const { version } = (await send({ method: "GET", path: "/api/account/keyring" })).body as { version?: unknown };
    return Number.isSafeInteger(version) ? Number(version) : 0;
  } catch (error) {
    if (error instanceof CofferError && error.status === 404 && !error.foreign) return 0;
    throw error;
  }
}
