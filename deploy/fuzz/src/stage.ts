import { randomBytes } from "node:crypto";
import { newKeyPair, signMachineToken } from "@coffer/crypto";
import { login, register } from "@coffer/sdk/account";
import { ask, demand } from "./api.ts";
import type { Caller, CallerName } from "./callers.ts";
import { forgedToken } from "./callers.ts";

/** What requests can be about: an organization with its people, a folder, a secret, an application, a machine. */
export interface Stage {
  /** Ids by what they name, as `namesOf` in right-request.ts asks for them. */
  readonly ids: Readonly<Record<string, string>>;
  caller(name: CallerName): Caller;
  /** Makes anew what requests have destroyed since. */
  repair(): Promise<void>;
}

interface Person {
  email: string;
  token: string;
  userId: string;
  sessionId: string;
}

interface Props {
  owner: Person;
  member: Person;
  stranger: Person;
  machine: { clientId: string; privateKey: Uint8Array };
  machineToken: string;
  /** To whom an invitation is kept open. */
  invited: string;
  ids: Record<string, string>;
}

const password = "correct horse battery staple";
const device = { id: "fuzz", name: "npm run fuzz", type: "cli" };
export const sealed = (): string => randomBytes(48).toString("base64");

/** Registers the people and makes everything else. The installation must let people sign up and not limit them. */
export async function createStage(url: string): Promise<Stage> {
  let props = await makeAll(url);
  const authorization = (name: CallerName): string | undefined => {
    if (name === "anonymous") return undefined;
    if (name === "machine") return `Bearer ${props.machineToken}`;
    if (name === "forger") return `Bearer ${forgedToken}`;
    return `Bearer ${{ person: props.owner, member: props.member, stranger: props.stranger }[name].token}`;
  };
  return {
    get ids() {
      return props.ids;
    },
    caller: (name) => ({ url, authorization: authorization(name) }),
    async repair() {
      try {
        await repairPeople(url, props);
        await repairThings(url, props);
      } catch {
        // So much is gone that a new stage is quicker than finding out what. A service that is gone fails here again.
        props = await makeAll(url);
      }
    },
  };
}

async function makeAll(url: string): Promise<Props> {
  const [owner, stranger] = [await newPerson(url, "Ours"), await newPerson(url, "Theirs")];
  const org = await demand(url, "GET", "/api/org", { token: owner.token });
  const props: Props = {
    owner,
    member: stranger,
    stranger,
    machine: { clientId: "", privateKey: new Uint8Array() },
    machineToken: "",
    invited: newEmail(),
    ids: { org: String(org["id"]) },
  };
  await repairThings(url, props);
  return props;
}

async function newPerson(url: string, organization?: string, inviteToken?: string, to?: string): Promise<Person> {
  const email = to ?? newEmail();
  const { session } = await register({ url, email, password, device, organization, inviteToken });
  return { email, token: session.access_token, userId: session.user.id, sessionId: session.session_id };
}

async function repairPeople(url: string, props: Props): Promise<void> {
  for (const person of [props.owner, props.member, props.stranger]) {
    const { status } = await ask(url, "GET", "/api/account", { token: person.token });
    if (status === 200) continue;
    const session = await login({ url, email: person.email, password, device });
    Object.assign(person, { token: session.access_token, sessionId: session.session_id });
  }
}

async function repairThings(url: string, props: Props): Promise<void> {
  const { owner, ids } = props;
  const of = { token: owner.token, org: ids["org"] ?? "" };
  const list = async (path: string): Promise<Record<string, unknown>[] | undefined> => {
    const { status, body } = await ask(url, "GET", path, of);
    return status === 200 ? (body["data"] as Record<string, unknown>[]) : undefined; // every list is {data: […]}
  };
  const make = async (path: string, body: object): Promise<string> =>
    String((await demand(url, "POST", path, { ...of, body }))["id"]);

  if ((await list(`/api/org/folders/${ids["folder"] ?? ""}/secrets?limit=1`)) === undefined)
    ids["folder"] = await make("/api/org/folders", { name: randomBytes(9).toString("hex"), encrypted_key: sealed() });
  const tokens = await list(`/api/org/applications/${ids["application"] ?? ""}/tokens`);
  if (tokens === undefined)
    ids["application"] = await make("/api/org/applications", { name: randomBytes(9).toString("hex") });
  const unused = tokens?.find(({ status }) => status === "unused");
  ids["token"] = unused
    ? String(unused["id"])
    : await make(`/api/org/applications/${ids["application"] ?? ""}/tokens`, { name: "unused", folders: [] });
  await repairMember(url, props);
  await repairMachine(url, props);
  await repairSecret(url, props);
  const sessions = await list("/api/auth/sessions");
  const other = sessions?.find(({ current }) => current === false);
  ids["own_session"] = other
    ? String(other["id"])
    : (await login({ url, email: owner.email, password, device })).session_id;
}

async function repairMember(url: string, props: Props): Promise<void> {
  const { ids, owner, member, stranger, invited } = props;
  const of = { token: owner.token, org: ids["org"] ?? "" };
  const { data } = await demand(url, "GET", "/api/org/members", of);
  const members = data as { user_id: string }[]; // as the list of members has them
  if (member === stranger || !members.some(({ user_id }) => user_id === member.userId)) {
    const email = newEmail();
    const { token } = await demand(url, "POST", "/api/org/invites", { ...of, body: { email, role: "member" } });
    props.member = await newPerson(url, undefined, String(token), email);
  }
  const invite = await demand(url, "POST", "/api/org/invites", { ...of, body: { email: invited, role: "member" } });
  Object.assign(ids, { invite: invite["id"], user: props.member.userId, session: props.member.sessionId });
}

async function repairMachine(url: string, props: Props): Promise<void> {
  const { ids, owner } = props;
  props.machineToken = await tokenOf(url, props);
  const { status, body } = await ask(url, "GET", "/api/sm/v1/folders", { token: props.machineToken });
  const granted = status === 200 ? (body["data"] as { id: string }[]) : []; // as the list of folders has them
  if (granted.some(({ id }) => id === ids["folder"])) return;
  const issued = await demand(url, "POST", `/api/org/applications/${ids["application"] ?? ""}/tokens`, {
    token: owner.token,
    org: ids["org"] ?? "",
    body: { name: "a machine", folders: [{ folder_id: ids["folder"], permission: "write" }] },
  });
  const { publicKey, privateKey } = await newKeyPair();
  const made = await demand(url, "POST", "/api/sm/v1/bootstrap", {
    body: { token: issued["token"], public_key: publicKey },
  });
  props.machine = { clientId: String(made["client_id"]), privateKey };
  props.machineToken = await tokenOf(url, props);
  ids["client"] = props.machine.clientId;
}

async function tokenOf(url: string, { machine }: Props): Promise<string> {
  if (machine.clientId === "") return "";
  return (await signMachineToken({ ...machine, audience: url }, new Date())).token;
}

async function repairSecret(url: string, { ids, machineToken: token }: Props): Promise<void> {
  const path = `/api/sm/v1/secrets/${ids["secret"] ?? "-"}/fields/password`;
  if ((await ask(url, "GET", path, { token })).status === 200) return;
  const body = {
    folder_id: ids["folder"],
    record_type: "login",
    title: "database",
    encrypted_payload: sealed(),
    wrapped_dek: sealed(),
    fields: { password: sealed() },
  };
  ids["secret"] = String((await demand(url, "POST", "/api/sm/v1/secrets", { token, body }))["uid"]);
}

function newEmail(): string {
  return `fuzz-${randomBytes(9).toString("hex")}@example.com`;
}
