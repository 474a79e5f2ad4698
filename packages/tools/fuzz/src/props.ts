import { randomBytes } from "node:crypto";
import { newKeyPair, signMachineToken } from "@coffer/crypto";
import { request, demand } from "./api.ts";
import { onceThePlanIsKnown, pay } from "./pay.ts";
import { ensureLoggedIn, newEmail, newPerson, openSession, type Person } from "./people.ts";

/** All objects on a stage. */
export interface Props {
  owner: Person;
  member: Person;
  stranger: Person;
  machine: { clientId: string; privateKey: Uint8Array };
  machineToken: string;
  /** The person with an open invitation. */
  invited: string;
  inviteToken: string;
  folderName: string;
  /** Ids by what they name. */
  ids: Record<string, string>;
  /** Signs the events that pay for the organization's plan; undefined without billing. */
  stripeSecret: string | undefined;
}

/** Base64 that looks like ciphertext. */
export const sealed = (): string => randomBytes(48).toString("base64");

/** Registers the people and makes everything else. */
export async function makeProps(url: string, stripeSecret: string | undefined): Promise<Props> {
  const owner = await newPerson(url, { organization: "Ours" });
  const stranger = await newPerson(url, { organization: "Theirs" });
  const org = await demand(url, "GET", "/api/org", { token: owner.token });
  const props: Props = {
    owner,
    member: stranger,
    stranger,
    machine: { clientId: "", privateKey: new Uint8Array() },
    machineToken: "",
    invited: newEmail(),
    inviteToken: "",
    folderName: "",
    ids: { org: String(org["id"]) },
    stripeSecret,
  };
  await repairProps(url, props);
  return props;
}

/** Makes missing objects again. Throws if that fails. */
export async function repairProps(url: string, props: Props): Promise<void> {
  for (const person of [props.owner, props.member, props.stranger]) await ensureLoggedIn(url, person);
  await repairFolder(url, props);
  await repairApplication(url, props);
  await repairMember(url, props);
  await repairMachine(url, props);
  await repairSecret(url, props);
  await repairRecord(url, props);
  await repairWebhook(url, props);
  const sessions = await list(url, props, "/api/auth/sessions");
  const other = sessions?.find(({ current }) => current === false);
  props.ids["own_session"] = other ? String(other["id"]) : await openSession(url, props.owner);
}

/** The items of a list, as the owner; undefined without the list. */
export async function list(url: string, props: Props, path: string): Promise<Record<string, unknown>[] | undefined> {
  const { status, body } = await request(url, "GET", path, asOwner(props));
  return status === 200 ? (body["data"] as Record<string, unknown>[]) : undefined; // every list is {data: […]}
}

/** The caller that makes and repairs objects. */
export function asOwner({ owner, ids }: Props): { token: string; org: string } {
  return { token: owner.token, org: ids["org"] ?? "" };
}

async function repairFolder(url: string, props: Props): Promise<void> {
  const { ids } = props;
  const folders = await list(url, props, "/api/org/folders");
  const present = folders?.find(({ id, permission }) => id === ids["folder"] && permission === "manage");
  const body = { name: randomBytes(9).toString("hex"), encrypted_key: sealed() };
  const folder = present ?? (await demand(url, "POST", "/api/org/folders", { ...asOwner(props), body }));
  ids["folder"] = String(folder["id"]);
  ids["key_version"] = String(folder["key_version"]);
  props.folderName = String(folder["name"]);
}

async function repairApplication(url: string, props: Props): Promise<void> {
  const { ids } = props;
  const tokens = await list(url, props, `/api/org/applications/${ids["application"] ?? ""}/tokens`);
  if (tokens === undefined) {
    const body = { name: randomBytes(9).toString("hex") };
    const application = await demand(url, "POST", "/api/org/applications", { ...asOwner(props), body });
    ids["application"] = String(application["id"]);
  }
  const unused = tokens?.find(({ status, name }) => status === "unused" && name === "unused");
  ids["token"] = String((unused ?? (await issue(url, props, { name: "unused", folders: [] })))["id"]);
}

/** A new one-time token of the application. */
export function issue(url: string, props: Props, body: object): Promise<Record<string, unknown>> {
  const path = `/api/org/applications/${props.ids["application"] ?? ""}/tokens`;
  return demand(url, "POST", path, { ...asOwner(props), body });
}

async function repairMember(url: string, props: Props): Promise<void> {
  const { ids, member, stranger, invited } = props;
  const invite = (email: string): Promise<Record<string, unknown>> =>
    demand(url, "POST", "/api/org/invites", { ...asOwner(props), body: { email, role: "member" } });
  const members = await list(url, props, "/api/org/members");
  const present = members?.find(({ user_id }) => user_id === member.userId);
  if (member === stranger || present?.["status"] !== "active") {
    const email = newEmail();
    const { token } = await invite(email);
    props.member = await newPerson(url, { inviteToken: String(token), email });
  }
  const open = await invite(invited);
  props.inviteToken = String(open["token"]);
  Object.assign(ids, { invite: open["id"], user: props.member.userId, session: props.member.sessionId });
}

async function repairMachine(url: string, props: Props): Promise<void> {
  const { ids } = props;
  props.machineToken = await signToken(url, props);
  const { status, body } = await request(url, "GET", "/api/sm/v1/folders", { token: props.machineToken });
  const granted = status === 200 ? (body["data"] as { id: string; permission: string }[]) : []; // the list of folders
  if (granted.some(({ id, permission }) => id === ids["folder"] && permission === "write")) return;
  const folders = [{ folder_id: ids["folder"], permission: "write" }];
  const { token } = await issue(url, props, { name: "a machine", folders });
  const { publicKey, privateKey } = await newKeyPair();
  const made = await demand(url, "POST", "/api/sm/v1/bootstrap", { body: { token, public_key: publicKey } });
  props.machine = { clientId: String(made["client_id"]), privateKey };
  props.machineToken = await signToken(url, props);
  ids["client"] = props.machine.clientId;
}

async function signToken(url: string, { machine }: Props): Promise<string> {
  if (machine.clientId === "") return "";
  return (await signMachineToken({ ...machine, audience: url }, new Date())).token;
}

async function repairSecret(url: string, { ids, machineToken: token }: Props): Promise<void> {
  const path = `/api/sm/v1/secrets/${ids["secret"] ?? "-"}`;
  const found = await request(url, "GET", `${path}/fields/password`, { token });
  const secret = await request(url, "GET", path, { token });
  if (found.status === 200 && secret.body["title"] === "database" && secret.body["folder_id"] === ids["folder"]) return;
  if (secret.status === 200) await request(url, "DELETE", path, { token });
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

/** A record, and its vault. */
async function repairRecord(url: string, props: Props): Promise<void> {
  const { ids } = props;
  const path = "/api/vaults";
  const vaults = await list(url, props, path);
  const present = vaults?.find(({ id, permission }) => id === ids["vault"] && permission === "manage");
  const vault = { name: "a vault", type: "shared", encrypted_key: sealed() };
  const made = present ?? (await demand(url, "POST", path, { ...asOwner(props), body: vault }));
  ids["vault"] = String(made["id"]);
  const records = `${path}/${ids["vault"]}/records`;
  const found = await request(url, "GET", `${records}/${ids["record"] ?? "-"}`, asOwner(props));
  if (found.status === 200) return;
  const body = { type: "login", encrypted_data: sealed() };
  ids["record"] = String((await demand(url, "POST", records, { ...asOwner(props), body }))["id"]);
}

/** A disabled SIEM endpoint, and quota for another one. */
async function repairWebhook(url: string, props: Props): Promise<void> {
  const path = "/api/org/siem/webhooks";
  let webhooks = await list(url, props, path);
  if (webhooks === undefined && props.stripeSecret !== undefined) {
    await pay(url, props.ids["org"] ?? "", props.stripeSecret);
    await onceThePlanIsKnown(() => request(url, "GET", path, asOwner(props)));
    webhooks = await list(url, props, path);
  }
  webhooks ??= [];
  const present = webhooks.find(({ id }) => id === props.ids["webhook"]);
  for (const { id } of webhooks)
    if (id !== present?.["id"]) await request(url, "DELETE", `${path}/${String(id)}`, asOwner(props));
  if (present !== undefined) return;
  const body = { format: "hec", url: nowhere, credentials: { token: "fuzz" }, enabled: false };
  props.ids["webhook"] = String((await demand(url, "POST", path, { ...asOwner(props), body }))["id"]);
}

/** A domain without hosts (RFC 2606): nothing is ever delivered there. */
export const nowhere = "https://siem.invalid/";
