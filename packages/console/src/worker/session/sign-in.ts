import { CofferError } from "@coffer/sdk";
import type { Calls } from "../../protocol/calls.ts";
import { enter, leave } from "./enter-leave.ts";
import { Refusal } from "../failure.ts";
import { lockKey } from "./lock.ts";
import { pinStorage } from "./pins.ts";
import type { ConsoleSession, Login } from "./session.ts";

type Input<Name extends keyof Calls> = Parameters<Calls[Name]>[0];

/** OPAQUE is large and needed for a login only. */
const account = () => import("@coffer/sdk/account");

/** Begins a login. Resolves `code` when it waits for `giveCode`. */
export function signIn(session: ConsoleSession, { email, password }: Input<"signIn">): Promise<"done" | "code"> {
  const login: Login = { next: Promise.withResolvers(), give: () => undefined };
  session.login = login;
  run(session, login, email, password).catch((error: unknown) => login.next.reject(error));
  return login.next.promise;
}

export async function giveCode({ login }: ConsoleSession, code: string): Promise<"done" | "code"> {
  if (login === undefined) throw new Refusal("locked");
  const { next, give } = login;
  give(code);
  return next.promise;
}

async function run(session: ConsoleSession, login: Login, email: string, password: string): Promise<void> {
  const { device, passkeys } = session;
  const sdk = await account();
  const person = await sdk.login({
    url: session.url,
    email,
    password,
    device: await device.device(),
    deviceCredential: await device.credential(email),
    otp: () => {
      login.next.resolve("code");
      login.next = Promise.withResolvers();
      return new Promise((resolve) => (login.give = resolve));
    },
  });
  await device.keepCredential(email, person.device_credential);
  const key = await lockKey(password);
  if (session.login !== login) return;
  // From now on the passkey opens this session. What a browser cannot store is the session before.
  await passkeys.keep(person, () => ({ session: person, key })).catch(() => undefined);
  await enter(session, person, key);
  login.next.resolve("done");
}

export async function register(session: ConsoleSession, input: Input<"register">): Promise<{ recoveryKey: string }> {
  const { email, password, name, organization, invitation } = input;
  const { url, device } = session;
  const sdk = await account();
  const registered = await sdk.register({
    url,
    email,
    password,
    device: await device.device(),
    ...(name === "" ? {} : { name }),
    ...(organization === "" ? {} : { organization }),
    ...(invitation === "" ? {} : { inviteToken: invitation }),
  });
  await pinStorage(registered.session).change(() => registered.trust);
  await device.keepCredential(email, registered.session.device_credential);
  return keepUntilConfirmed(session, registered, password);
}

export async function recover(session: ConsoleSession, input: Input<"recover">): Promise<{ recoveryKey: string }> {
  const { email, recoveryKey, newPassword, code } = input;
  const { url, device, passkeys } = session;
  const sdk = await account();
  const recovered = await sdk.recover({
    url,
    email,
    newPassword,
    recoveryKey,
    device: await device.device(),
    otp: (again) =>
      code === "" || again
        ? Promise.reject(new Refusal(again ? "otp_required" : "code_needed"))
        : Promise.resolve(code),
  });
  await device.keepCredential(email, recovered.session.device_credential);
  // Its session has ended with all others.
  await passkeys.remove([recovered.session.user.id]).catch(() => undefined);
  return keepUntilConfirmed(session, recovered, newPassword);
}

/** Begins the session of a registration or a recovery, if the person has this recovery key. */
export async function keptRecoveryKey(session: ConsoleSession, recoveryKey: string): Promise<null> {
  const { registered } = session;
  if (registered === undefined || registered.recoveryKey !== recoveryKey) throw new Refusal("locked");
  session.registered = undefined;
  await enter(session, registered.session, registered.key);
  return null;
}

async function keepUntilConfirmed(
  session: ConsoleSession,
  { session: person, recoveryKey }: Omit<NonNullable<ConsoleSession["registered"]>, "key">,
  password: string,
): Promise<{ recoveryKey: string }> {
  session.registered = { session: person, key: await lockKey(password), recoveryKey };
  return { recoveryKey };
}

export async function signOut(session: ConsoleSession): Promise<null> {
  const client = session.open?.workspace.client;
  const id = session.user?.id;
  // Before the service is asked, which takes its time where it cannot be reached.
  if (id !== undefined) await session.passkeys.remove([id]).catch(() => undefined);
  await client?.logout().catch((error: unknown) => {
    // Without a connection the session ends here, and at the service when it expires.
    if (!(error instanceof CofferError)) throw error;
  });
  await leave(session);
  if (id !== undefined) session.otherWorkers.postMessage(id);
  return null;
}
