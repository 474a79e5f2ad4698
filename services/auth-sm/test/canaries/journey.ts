import { randomBytes, randomUUID } from "node:crypto";
import { type Answer, call } from "../support/call.ts";
import { ask, createApplication, createFolder, createMachine, createToken, secretBody } from "../support/machines.ts";
import {
  append,
  createJoiningMachine,
  createSignedFolder,
  folderRes,
  invitationTo,
  joinAs,
  joinSigned,
  machineJoinEntry,
  memberHolder,
  orgRes,
  registerSigner,
  shareSigned,
  signedTokenBody,
  type Signer,
  signNext,
} from "../support/histories.ts";
import { accept, invite } from "../support/members.ts";
import { logIn, newEmail, type Person, register, sealed } from "../support/people.ts";
import { beginRecovery, changePassword, proofOf, protect, registerRecoverable } from "../support/proofs.ts";
import { jwe, rotate, rotationOf } from "../support/rotation.ts";
import type { TestService } from "../support/service.ts";

/** As it is when it is folded. */
export const title = (): string => `the title ${randomBytes(9).toString("hex")}`;
const text = (): string => randomBytes(9).toString("base64url");
const secretContent = () => ({ title: title(), title_encrypted: sealed(), fields: { password: sealed() } });

type Service = Pick<TestService, "url" | "clock" | "postgres">;

/** Uses every endpoint for what it is there for. Throws when one refuses. */
export async function useEverything(service: Service): Promise<void> {
  const stores = service as TestService; // what is called below asks for no more of it
  const owner = await register(service, { orgName: "Canaries" });
  await useAccount(service);
  await useOrganization(stores, owner);
  await useFolders(stores, owner);
  await useMachines(service, owner);
  await useHistories(stores);
}

/** As a person; throws when refused. */
async function done(service: Service, { token }: { token: string }, what: string, body?: object): Promise<Answer> {
  const [method = "", path = ""] = what.split(" ");
  return fine(what, await call(service, method, path, { token, body }));
}

function fine(what: string, answer: Answer): Answer {
  if (answer.status >= 300) throw new Error(`${what} was answered ${answer.status} ${answer.body.error}`);
  return answer;
}

async function useAccount(service: Service): Promise<void> {
  const recoverable = await registerRecoverable(service);
  await done(service, recoverable, "GET /.well-known/jwks.json");
  await done(service, recoverable, "GET /api/account");
  await done(service, recoverable, "GET /api/account/recovery");
  const refreshed = await done(service, recoverable, "POST /api/auth/refresh", {
    refresh_token: recoverable.refreshToken,
  });
  const second = await logIn(service, recoverable);
  await done(service, { token: refreshed.body.access_token }, `DELETE /api/auth/sessions/${second.sessionId}`);
  await done(service, recoverable, "GET /api/auth/sessions");
  await done(service, recoverable, "DELETE /api/auth/sessions?others=true");
  fine("the password", await changePassword(service, recoverable, text()));
  const { finish } = await beginRecovery(service, recoverable, text());
  const recovery = { proof_hash: randomBytes(32).toString("hex"), encrypted_user_key: sealed() };
  fine("the recovery", await call(service, "POST", "/api/auth/recovery/finish", { body: { ...finish, recovery } }));
  const person = await protect(service);
  const [code = "", another = ""] = person.recoveryCodes;
  await done(service, person, "PUT /api/account/travel-mode", { enabled: true });
  await done(service, person, "GET /api/account/travel-mode");
  const proof = await proofOf(service, person, another);
  await done(service, person, "PUT /api/account/travel-mode", { enabled: false, ...proof });
  await done(service, person, "DELETE /api/auth/totp", await proofOf(service, person, code));
  await done(service, person, "POST /api/auth/logout");
}

async function useOrganization(service: TestService, owner: Person): Promise<void> {
  await done(service, owner, "GET /api/org");
  await done(service, owner, "POST /api/orgs", { name: "Another" });
  const withdrawn = await invite(service, owner, { email: newEmail(), role: "member" });
  await done(service, owner, "GET /api/org/invites");
  await done(service, owner, `DELETE /api/org/invites/${withdrawn.body.id}`);
  const person = await register(service);
  const invited = await invite(service, owner, { email: person.email, role: "member" });
  fine("the invitation", await accept(service, person, invited.body.token));
  await done(service, owner, "GET /api/org/members");
  await done(service, owner, `GET /api/users/${person.userId}/public_key`);
  const path = `/api/org/members/${person.userId}`;
  await done(service, owner, `PATCH ${path}`, { role: "admin" });
  await done(service, owner, `PUT ${path}/travel-mode`, { enabled: true });
  await done(service, owner, `GET ${path}/sessions`);
  await done(service, owner, `DELETE ${path}/sessions/${person.sessionId}`);
  await logIn(service, person);
  await done(service, owner, `DELETE ${path}/sessions`);
  await done(service, owner, `DELETE ${path}`);
}

async function useFolders(service: TestService, owner: Person): Promise<void> {
  const folder = await createFolder(service, owner);
  const other = await createFolder(service, owner);
  const path = `/api/org/folders/${folder}`;
  const member = await register(service);
  const invited = await invite(service, owner, { email: member.email, role: "member" });
  await accept(service, member, invited.body.token);
  await done(service, owner, "GET /api/org/folders");
  await done(service, owner, `PATCH ${path}`, { name: text() });
  const key = { permission: "read", encrypted_key: `${jwe}${text()}` };
  for (const id of [folder, other])
    await done(service, owner, `PUT /api/org/folders/${id}/members/${member.userId}`, key);
  await done(service, owner, `GET ${path}/members`);
  const [kept, gone] = [secretBody(folder, secretContent()), secretBody(folder, secretContent())];
  const { uid } = (await done(service, owner, `POST ${path}/secrets`, kept)).body;
  const removed = (await done(service, owner, `POST ${path}/secrets`, gone)).body.uid;
  await done(service, owner, `GET ${path}/secrets`);
  await done(service, member, `GET ${path}/secrets/${uid}`);
  await done(service, owner, `PUT ${path}/secrets/${uid}`, secretBody(folder, secretContent()));
  await done(service, owner, `DELETE ${path}/secrets/${removed}`);
  fine("the rotation", await rotate(service, owner, folder, await rotationOf(service, owner, folder)));
  const { secrets, ...rotation } = await rotationOf(service, owner, folder);
  const staged = secrets.map((secret) => ({ ...secret, encrypted_payload: sealed() }));
  const rotation_id = randomUUID();
  await done(service, owner, `PUT ${path}/rotation/${rotation_id}`, { secrets: staged });
  fine("the staged rotation", await rotate(service, owner, folder, { ...rotation, rotation_id }));
  // These stay staged.
  const { secrets: present } = await rotationOf(service, owner, folder);
  await done(service, owner, `PUT ${path}/rotation/${rotation_id}`, {
    secrets: present.map((secret) => ({ ...secret, encrypted_payload: sealed() })),
  });
  await done(service, owner, `DELETE ${path}/members/${member.userId}`);
  await done(service, owner, `DELETE /api/org/folders/${other}`);
}

async function useMachines(service: Service, owner: Person): Promise<void> {
  const [folder, other] = [await createFolder(service, owner, "machines"), await createFolder(service, owner)];
  const application = await createApplication(service, owner);
  const path = `/api/org/applications/${application}`;
  await done(service, owner, "GET /api/org/applications");
  await done(service, owner, `PATCH ${path}`, { name: text() });
  const options = { applicationId: application };
  const unused = await createToken(service, owner, [], options);
  await done(service, owner, `POST ${path}/tokens`, { name: "made by the server", folders: [] });
  await done(service, owner, `GET ${path}/tokens`);
  await done(service, owner, `DELETE ${path}/tokens/${unused.id}`);
  const grant = { folder_id: folder, permission: "write", encrypted_folder_key: sealed() } as const;
  const machine = await createMachine(service, owner, [grant], options);
  const grants = `${path}/clients/${machine.clientId}/folders`;
  await done(service, owner, `GET ${path}/clients`);
  await done(service, owner, `PUT ${grants}/${other}`, { permission: "read", encrypted_key: `${jwe}${text()}` });
  await done(service, owner, `DELETE ${grants}/${other}`);
  const asked = async (what: string, body?: object): Promise<Answer> => {
    const [method = "", at = ""] = what.split(" ");
    return fine(what, await ask(service, machine, method, at, { body }));
  };
  const secret = secretBody(folder, secretContent());
  const { uid } = (await asked("POST /secrets", secret)).body;
  await asked("GET /client");
  await asked("GET /folders");
  await asked("GET /secrets");
  await asked(`GET /secrets/search?title=${encodeURIComponent(String(secret["title"]))}`);
  await asked(`GET /secrets/${uid}`);
  await asked(`GET /secrets/${uid}/fields/password`);
  const part = encodeURIComponent(String(secret["title"]));
  await asked("POST /notation", { notation: `coffer://machines/${part}/field/password` });
  await asked(`PUT /secrets/${uid}`, secretBody(folder, secretContent()));
  const removed = (await asked("POST /secrets", secretBody(folder, secretContent()))).body.uid;
  await asked(`DELETE /secrets/${removed}`);
  await done(service, owner, `DELETE ${path}/clients/${machine.clientId}`);
  await done(service, owner, `DELETE ${path}`);
}

async function useHistories(service: TestService): Promise<void> {
  const owner = await registerSigner(service, { keyring: sealed() });
  await done(service, owner, "GET /api/account/keyring");
  await done(service, owner, "PUT /api/account/keyring", { version: 2, sealed: sealed() });
  await done(service, owner, "GET /api/org/history");
  const member = await joinSigned(service, owner);
  const res = orgRes(owner.orgId);
  await done(service, owner, `GET /api/org/members/${member.userId}/heads`);
  const again = await signNext(service, owner, res, { set: [memberHolder(member, "read")] });
  fine("the confirmation", await append(service, owner, res, again));
  const { body } = await invitationTo(service, owner, { email: newEmail() });
  await done(service, owner, "POST /api/org/invites", body);
  const folder = await createSignedFolder(service, owner);
  fine("the sharing", await shareSigned(service, owner, folder, member, "read"));
  const machine = await createJoiningMachine(service, owner, [{ folder_id: folder, permission: "read" }]);
  const { tag } = await signedInvitation(service, owner, folder);
  fine("the join", await joinAs(service, machine, folder, await machineJoinEntry(service, machine, folder)));
  const drop = await signNext(service, owner, folderRes(folder), { drop: [`invite:${tag}`] });
  fine("the drop", await append(service, owner, folderRes(folder), drop));
}

/** A one-time token that no machine spends. */
async function signedInvitation(service: TestService, owner: Signer, folder: string): Promise<{ tag: string }> {
  const { tag, body } = await signedTokenBody(service, owner, [{ folder_id: folder, permission: "read" }]);
  const application = await createApplication(service, owner);
  await done(service, owner, `POST /api/org/applications/${application}/tokens`, body);
  return { tag };
}
