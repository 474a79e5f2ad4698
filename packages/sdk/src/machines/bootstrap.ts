import { accessTokenPrefix, encodeBase64, newId, newKeyPair, readAccessToken } from "@coffer/crypto";
import { CofferError } from "../errors.ts";
import { joinFolders } from "../histories/join-folders.ts";
import { createTransport, type Transport, type TransportOptions } from "../http/transport.ts";
import { dataOf } from "../http/list-answer.ts";
import type { TrustRecord, TrustStorage } from "../trust/trust-storage.ts";
import type { ClientView, FolderView } from "../views.ts";
import { type MachineConfiguration, trustOf } from "./machine-configuration.ts";
import { machineStore } from "./machine-store.ts";

export interface BootstrapRequest {
  url: string;
  /**
   * The one-time token as it was shown. Not needed to finish a bootstrap whose response was lost.
   */
  token?: string | undefined;
  /** The configuration that an earlier, unfinished call saved. */
  pending?: MachineConfiguration | undefined;
  /**
   * Stores the configuration durably. Called before the token is spent, and again with the folder
   * keys.
   */
  save(configuration: MachineConfiguration): Promise<void>;
  /**
   * Deletes the stored configuration. Called when the service has refused a first attempt, so the
   * identity is unused.
   */
  discard?: (() => Promise<void>) | undefined;
}

export interface BootstrapOptions extends Omit<TransportOptions, "url"> {
  /** Unix milliseconds. */
  now?: (() => number) | undefined;
}

/**
 * The tolerated difference between this machine's clock and the service's, since tokens contain the
 * time.
 */
const clockToleranceSeconds = 60;

/**
 * Bootstraps this machine: makes a key pair and a client id, saves them, and only then spends the
 * one-time token. When the response is lost, the next call with the saved configuration
 * authenticates as that client and finishes. Throws CofferError: `configuration` when the clock is
 * wrong or the service does not know the address as its own (before the token is spent), or a token
 * is needed and missing; `invalid_token` when it is used or unknown; `access_denied` away from its
 * addresses; `network` when the response was lost.
 */
export async function bootstrap(
  request: BootstrapRequest,
  options: BootstrapOptions = {},
): Promise<MachineConfiguration> {
  const now = options.now ?? Date.now;
  const transport = createTransport({ ...options, url: request.url });
  const token = request.token === undefined ? undefined : await readToken(request.token);
  await checkService(transport, now);
  const { pending } = request;
  if (pending !== undefined) {
    const finished = await finish({ ...pending, url: transport.url }, transport, now, request.save);
    if (finished !== undefined) return saved(finished, request);
  }
  if (token === undefined)
    throw new CofferError("configuration", "the service does not know this machine: give the one-time token again");

  const drafted: MachineConfiguration = {
    version: 1,
    ...(pending ?? (await newIdentity(now()))),
    url: transport.url,
    wrap_key: token.wrapKey,
    token_hash: token.tokenHash,
    folders: [],
  };
  await request.save(drafted);
  try {
    await transport.send({
      method: "POST",
      path: "/api/sm/v1/bootstrap",
      body: { token: token.sent, public_key: drafted.public_key, client_id: drafted.client_id },
    });
  } catch (error) {
    if (!(error instanceof CofferError) || !answerIsLost(error)) {
      if (pending === undefined && wasRefused(error)) await request.discard?.();
      throw error;
    }
    const finished = await finish(drafted, transport, now, request.save).catch(() => undefined);
    if (finished !== undefined) return saved(finished, request);
    throw new CofferError("network", `${error.message}; call again with the same configuration, nothing is lost`, {
      cause: error,
    });
  }
  const finished = await finish(drafted, transport, now, request.save);
  if (finished !== undefined) return saved(finished, request);
  throw new CofferError(
    "bad_answer",
    `the service took the token, but no token of this machine for ${transport.url}: COFFER_BASE_URL of the service must ` +
      "name this address; then the same call again, without the one-time token, finishes",
  );
}

/**
 * The part of a token that is sent, and the wrap key of a token that was made on an administrator's
 * machine.
 */
async function readToken(
  text: string,
): Promise<{ sent: string; wrapKey: string | undefined; tokenHash: string | undefined }> {
  // A token that the service made has no prefix and brings no folder keys.
  if (!text.startsWith(accessTokenPrefix)) return { sent: text, wrapKey: undefined, tokenHash: undefined };
  try {
    const { token, wrapKey, tokenHash } = await readAccessToken(text);
    return { sent: token, wrapKey: encodeBase64(wrapKey), tokenHash };
  } catch (cause) {
    throw new CofferError("configuration", (cause as Error).message, { cause });
  }
}

async function newIdentity(
  now: number,
): Promise<Pick<MachineConfiguration, "client_id" | "private_key" | "public_key">> {
  const { publicKey, privateKey } = await newKeyPair();
  return { client_id: newId(now), private_key: encodeBase64(privateKey), public_key: publicKey };
}

async function saved(configuration: MachineConfiguration, request: BootstrapRequest): Promise<MachineConfiguration> {
  await request.save(configuration);
  return configuration;
}

/**
 * Authenticates as the drafted client. Undefined when the service does not know that client, so the
 * token is not spent.
 */
async function finish(
  drafted: MachineConfiguration,
  transport: Transport,
  now: () => number,
  save: BootstrapRequest["save"],
): Promise<MachineConfiguration | undefined> {
  const draft = machineStore(drafted, transport, { now });
  let client: ClientView;
  try {
    client = (await draft.send({ method: "GET", path: "/api/sm/v1/client" })).body as ClientView;
  } catch (error) {
    if (error instanceof CofferError && error.code === "invalid_token" && !error.foreign) return undefined;
    throw error;
  }
  if (client.client_id !== drafted.client_id)
    throw new CofferError("bad_answer", "the service took this machine for another one");
  let joined = drafted;
  const trust = savedTrust(drafted, async (histories) => {
    joined = { ...joined, histories };
    await save(joined);
  });
  const { histories, send } = machineStore(drafted, transport, { now, trust });
  const views = dataOf<FolderView>(await send({ method: "GET", path: "/api/sm/v1/folders" }));
  const refused = await joinFolders(views, drafted, histories, send);
  for (const [res, error] of refused) {
    // One that an earlier call has reported does not keep the machine from its other folders.
    const isReported = (await histories.known(res)) !== undefined;
    if (!(await histories.newest(res)).accepted && !isReported) throw error;
  }
  const folders = await machineStore(joined, transport, { now }).folders(true);
  return {
    ...joined,
    ...(isJoined(views, joined) ? { wrap_key: undefined, token_hash: undefined } : {}),
    application_id: client.application_id,
    org_id: client.org_id,
    folders: folders.map(({ id, name, permission, keyVersion, key }) => ({
      id,
      name,
      permission,
      ...(keyVersion === undefined ? {} : { key_version: keyVersion }),
      key: key === null ? null : encodeBase64(key),
    })),
  };
}

/** Stores the key pins in the configuration, so that a call after a crash continues from there. */
function savedTrust(drafted: MachineConfiguration, save: (histories: TrustRecord) => Promise<void>): TrustStorage {
  let held = trustOf(drafted);
  return {
    load: () => Promise.resolve(held),
    async change(change) {
      const before = held;
      held = change(held);
      if (held !== before) await save(held);
      return held;
    },
  };
}

/**
 * Whether the token has done its work. A service that shows no folder, none with a history, or a
 * history without the invitation may lie. The machine then keeps the token, and joins when it sees one.
 */
function isJoined(views: readonly FolderView[], { histories }: MachineConfiguration): boolean {
  const known = histories?.resources ?? {};
  return views.length > 0 && views.every(({ id }) => known[`folder:${id}`]?.accepted === true);
}

/** Whether the token may be spent although the call failed: a proxy's refusal does not say. */
function answerIsLost(error: CofferError): boolean {
  return error.foreign || error.code === "network" || error.code === "bad_answer" || (error.status ?? 0) >= 500;
}

/** Whether the service refused, so that this call did not spend the token. */
function wasRefused(error: unknown): boolean {
  return error instanceof CofferError && error.status !== undefined && [400, 401, 403].includes(error.status);
}

/**
 * Detects problems because of which the service would refuse this machine's tokens after the
 * one-time token is spent.
 */
async function checkService(transport: Transport, now: () => number): Promise<void> {
  const { headers, body } = await transport.send({ method: "GET", path: "/.well-known/jwks.json" });
  checkAddress(transport.url, body);
  const there = Date.parse(headers.get("date") ?? "");
  const ahead = Math.round((now() - there) / 1000);
  if (Number.isNaN(ahead) || Math.abs(ahead) <= clockToleranceSeconds) return;
  const wrong = `${Math.abs(ahead)} s ${ahead > 0 ? "ahead of" : "behind"} the service's`;
  throw new CofferError("configuration", `this machine's clock is ${wrong}; set it, the token is not spent`);
}

/**
 * A machine's token names the address that it uses as audience: the service must know that address
 * as its own.
 */
function checkAddress(url: string, body: unknown): void {
  const { base_urls: own } = (body ?? {}) as { base_urls?: unknown };
  if (!Array.isArray(own) || own.includes(url)) return;
  throw new CofferError(
    "configuration",
    `the service does not know ${url} as its own address, but ${own.join(", ")}: use one of these, or let ` +
      "COFFER_BASE_URL of the service name this one too; the token is not spent",
  );
}
