import { box, contexts, newAccessToken, readAccessToken } from "@coffer/crypto";
import { makeInvitation } from "@coffer/history";
import { CofferError } from "../errors.ts";
import { folderAt } from "../folders/share-folder.ts";
import { deadTokenTags } from "../histories/dead-tags.ts";
import { understoodHistory } from "../histories/history-failure.ts";
import { sendSigned, type SignedChange } from "../histories/send-signed.ts";
import { changedMeanwhile, signedEntry } from "../histories/sign-change.ts";
import { keyOf } from "../secrets/sealed-secret.ts";
import type { SecretStore } from "../secrets/secret-store.ts";
import type { PersonTrust } from "../trust/person-trust.ts";
import type { TokenView } from "../views.ts";

export interface TokenRequest {
  applicationId: string;
  name: string;
  folders: { folderId: string; permission: "read" | "write" }[];
  /** ISO 8601. The service's default is one day from now, its limit seven days. */
  expiresAt?: string | undefined;
  clientExpiresAt?: string | undefined;
  allowedCidrs?: string[] | undefined;
}

/** `token` is for the machine. It is returned only once. */
export interface NewToken extends TokenView {
  token: string;
}

type FolderGrant = TokenRequest["folders"][number];

/** A folder of a token, with its part of the request. */
interface Invited extends SignedChange {
  part: object;
}

/** How often a token is made again after a concurrent entry of another manager. */
const rounds = 5;

/**
 * Makes a one-time token on this machine. The service gets its hash, the folder keys sealed for it,
 * and for each folder the entry that invites the machine; it can open none of them. Throws
 * CofferError `no_key`, or a code of histories, for a folder whose key the caller cannot use.
 */
export async function createToken(store: SecretStore, trust: PersonTrust, request: TokenRequest): Promise<NewToken> {
  const token = newAccessToken();
  const read = await readAccessToken(token);
  const path = `/api/org/applications/${encodeURIComponent(request.applicationId)}/tokens`;
  for (let round = 1; ; round += 1) {
    try {
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
      // The service may have delayed the answers about a later folder.
      for (const { before } of invited)
        if (!(await trust.histories.isUnchanged(before))) throw changedMeanwhile(before.state);
      const answer = await sendSigned(trust.histories, invited, () => store.send({ method: "POST", path, body }));
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
  const { trusted, organization } = await trust.histories.withOrganization(res);
  const { state } = trusted;
  const folder = await folderAt(store, folderId, state.ver);
  const encrypted = await box(wrapKey, keyOf(folder), contexts.sharedFolderKey(folderId));
  const self = await trust.self();
  const { change, signed } = await understoodHistory(
    (async () => {
      const request = { tag: tokenHash, wrapKey, kind: "client", perm: permission } as const;
      const invitation = await makeInvitation(state, res, request);
      const change = { invite: [invitation], drop: await deadTokenTags((one) => store.send(one), state) };
      return { change, signed: await signedEntry(organization, self, state, change) };
    })(),
  );
  const part = {
    folder_id: folderId,
    permission,
    encrypted_folder_key: encrypted,
    key_version: state.ver,
    entry: signed.text,
  };
  return { before: trusted, change, after: signed.state, part };
}
