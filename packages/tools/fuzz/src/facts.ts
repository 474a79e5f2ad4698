import { readRecoveryKey } from "@coffer/crypto";
import { request } from "./api.ts";
import { newEmail, newLoginRequest, newPerson, newProof, newRecord } from "./people.ts";
import { asOwner, issue, list, nowhere, type Props, sealed } from "./props.ts";

/** Values for the fields of one operation's body, by name. */
export type Facts = Readonly<Record<string, unknown>>;

/**
 * The values of an operation that an example cannot have: a proof, an issued token, the content of a
 * folder. Most of them are valid for one request.
 */
const makers: Readonly<Record<string, (url: string, props: Props) => Promise<Facts | undefined>>> = {
  createSiemWebhook: () => Promise.resolve({ url: nowhere, enabled: false }),
  updateSiemWebhook: () => Promise.resolve({ enabled: false }),
  bootstrap: async (url, props) => ({ token: (await issue(url, props, { name: "spent", folders: [] }))["token"] }),
  resolveNotation: (_, { folderName, ids }) =>
    Promise.resolve({ notation: `coffer://${folderName}/${ids["secret"] ?? ""}/field/password` }),
  createFolder: () => Promise.resolve({ key_version: 1 }),
  createVault: () => Promise.resolve({ key_version: 1 }),
  shareVault: () => Promise.resolve({ key_version: 1 }),
  readInvitedHistory: (_, { inviteToken }) => Promise.resolve({ token: inviteToken }),
  replaceKeyring: async (url, props) => {
    const { status, body } = await request(url, "GET", "/api/account/keyring", asOwner(props));
    return { version: status === 200 ? Number(body["version"]) + 1 : 1 };
  },
  acceptInvite: (_, { inviteToken }) => Promise.resolve({ token: inviteToken }),
  refreshSession: (_, { stranger }) => Promise.resolve({ refresh_token: stranger.refreshToken }),
  finishRegistration: async (url) => {
    const email = newEmail();
    const { record } = await newRecord(url, "/api/auth/register/start", { body: { email } });
    return { email, registration_record: record };
  },
  startLogin: async () => ({ start_login_request: await newLoginRequest() }),
  finishLogin: (url, { stranger }) => newProof(url, stranger),
  startTotp: (url, { owner }) => newProof(url, owner),
  removeTotp: (url, { owner }) => newProof(url, owner),
  changePassword: async (url, { owner }) => {
    const { record } = await newRecord(url, "/api/auth/password/start", { token: owner.token });
    return { ...(await newProof(url, owner)), registration_record: record };
  },
  startRecovery: async (url) => {
    // Their logins and recoveries are delayed for a while by the fuzz.
    const { email, recoveryKey } = await newPerson(url, {});
    return { email, proof: (await readRecoveryKey(recoveryKey)).proof };
  },
  finishRecovery: async (url, { stranger: { email, recoveryKey } }) => {
    const { proof } = await readRecoveryKey(recoveryKey);
    const { record, started } = await newRecord(url, "/api/auth/recovery/start", { body: { email, proof } });
    return { recovery_id: started["recovery_id"], registration_record: record };
  },
  rotateFolder: async (url, props) => {
    const path = `/api/org/folders/${props.ids["folder"] ?? ""}`;
    const holders = (await list(url, props, `${path}/members`)) ?? [];
    const of = (wanted: string): unknown[] => holders.flatMap(({ kind, id }) => (kind === wanted ? [id] : []));
    const jwe = "e30.c2VhbGVk.aXY.Y2lwaGVydGV4dA.dGFn";
    return {
      encrypted_keys: {
        users: of("user").map((user_id) => ({ user_id, encrypted_key: jwe })),
        clients: of("client").map((client_id) => ({ client_id, encrypted_key: jwe })),
      },
      secrets: ((await list(url, props, `${path}/secrets`)) ?? []).map(resealed),
    };
  },
  stageFolderRotation: async (url, props) => {
    const path = `/api/org/folders/${props.ids["folder"] ?? ""}`;
    const secrets = ((await list(url, props, `${path}/secrets`)) ?? []).map(resealed);
    return { secrets: secrets.map((secret) => ({ ...secret, encrypted_payload: sealed() })) };
  },
};

/** The same secret under the next key. */
function resealed({ uid, version, title_encrypted, field_names }: Record<string, unknown>): object {
  const names = field_names as string[]; // as the list of secrets has them
  return {
    uid,
    version,
    wrapped_dek: sealed(),
    ...(title_encrypted === "" ? {} : { title_encrypted: sealed() }),
    fields: Object.fromEntries(names.map((name) => [name, sealed()])),
  };
}

/** The facts of an operation; none if it needs none, or they are not available now. */
export async function factsFor(operationId: string, url: string, props: Props): Promise<Facts> {
  const make = Object.hasOwn(makers, operationId) ? makers[operationId] : undefined;
  try {
    return (await make?.(url, props)) ?? {};
  } catch {
    // Delayed after too many logins, or refused after other requests: the request is sent without them.
    return {};
  }
}
