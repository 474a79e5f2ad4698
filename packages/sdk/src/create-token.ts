import { box, contexts, newAccessToken, readAccessToken } from "@coffer/crypto";
import { makeInvitation, sign } from "@coffer/history";
import type { HistoryState } from "@coffer/history";
import { CofferError } from "./errors.ts";
import { deadTokenTags } from "./histories/dead-tags.ts";
import type { Verified } from "./histories/histories.ts";
import { understoodHistory } from "./histories/history-failure.ts";
import type { PersonTrust } from "./histories/person-trust.ts";
import { keepSigned } from "./histories/sign-change.ts";
import { keyOf } from "./sealed-secret.ts";
import type { SecretStore } from "./secret-store.ts";
import { folderAt } from "./share-folder.ts";
import type { TokenView } from "./views.ts";

export interface TokenRequest {
  applicationId: string;
  name: string;
  folders: { folderId: string; permission: "read" | "write" }[];
  /** ISO 8601; the service's default is a day from now, its limit seven days. */
  expiresAt?: string | undefined;
  clientExpiresAt?: string | undefined;
  allowedCidrs?: string[] | undefined;
}

/** `token` is what the machine is given; it is nowhere else and cannot be had again. */
export interface NewToken extends TokenView {
  token: string;
}

type FolderGrant = TokenRequest["folders"][number];

/** A folder of a token: the part of the request, and the state after the entry in it. */
interface Invited {
  trusted: Verified;
  after: HistoryState;
  part: object;
}

/** How often a token is made again because an entry of another manager came in between. */
const rounds = 5;

/**
 * Makes a one-time token on this machine: the service gets its hash, the folder keys sealed for it, and for each folder the
 * entry that invites the machine. It can open none of them.
 * Throws CofferError `no_key`, or a code of histories, for a folder whose key the caller cannot use.
 */
export async function createToken(store: SecretStore, trust: PersonTrust, request: TokenRequest): Promise<NewToken> {
  const token = newAccessToken();
  const read = await readAccessToken(token);
  const path = `/api/org/applications/${encodeURIComponent(request.applicationId)}/tokens`;
  for (let round = 1; ; round += 1) {
    const invited: Invited[] = [];
    for (const grant of request.folders) invited.push(await invite(store, trust, grant, read));
    const body = {
      name: request.name,
      token_hash: read.tokenHash,
      folders: invited.map(({ part }) => part),
      expires_at: request.expiresAt,
      client_expires_at: request.clientExpiresAt,
      allowed_cidrs: request.allowedCidrs,
    };
    try {
      const answer = await store.send({ method: "POST", path, body });
      for (const { trusted, after } of invited) await keepSigned(trust.histories, trusted, after);
      await trust.share();
      return { ...(answer.body as TokenView), token };
    } catch (error) {
      const overtaken = error instanceof CofferError && error.code === "conflict" && round < rounds;
      if (!overtaken) throw error;
    }
  }
}

async function invite(
  store: SecretStore,
  trust: PersonTrust,
  { folderId, permission }: FolderGrant,
  { tokenHash, wrapKey }: { tokenHash: string; wrapKey: Uint8Array },
): Promise<Invited> {
  const res = `folder:${folderId}` as const;
  const trusted = await trust.histories.newest(res);
  const { state } = trusted;
  const folder = await folderAt(store, folderId, state.ver);
  const encrypted = await box(wrapKey, keyOf(folder), contexts.sharedFolderKey(folderId));
  const { who, privateKey } = await trust.self();
  const signed = await understoodHistory(
    (async () => {
      const request = { tag: tokenHash, wrapKey, kind: "client", perm: permission } as const;
      const invitation = await makeInvitation(state, res, request);
      const change = { invite: [invitation], drop: await deadTokenTags((one) => store.send(one), state) };
      return sign(state, res, who as `user:${string}`, await privateKey(), change); // a person makes tokens
    })(),
  );
  const part = {
    folder_id: folderId,
    permission,
    encrypted_folder_key: encrypted,
    key_version: state.ver,
    entry: signed.text,
  };
  return { trusted, after: signed.state, part };
}
