import { client as library, ready, server } from "@serenity-kit/opaque";
import t from "tap";
import { userKeySealKey } from "../src/index.ts";
import { finishLogin, finishRegistration, startLogin, startRegistration } from "../src/opaque.ts";

await ready;
const account = { serverSetup: server.createSetup(), userIdentifier: "ada@example.com" };
const password = "correct horse";

async function register(): Promise<{ record: string; exportKey: string }> {
  const { state, registrationRequest } = await startRegistration(password);
  const { registrationResponse } = server.createRegistrationResponse({ ...account, registrationRequest });
  const { registrationRecord, exportKey } = await finishRegistration({ state, registrationResponse, password });
  return { record: registrationRecord, exportKey };
}

async function answerLogin(
  record: string | null,
  typed: string,
): Promise<{ client: string; server: string; answer: string }> {
  const { state, startLoginRequest } = await startLogin(typed);
  const request = { ...account, registrationRecord: record, startLoginRequest };
  const { loginResponse, serverLoginState } = server.startLogin(request);
  return { client: state, server: serverLoginState, answer: loginResponse };
}

const { record, exportKey } = await register();

void t.test("a password that UTF-8 cannot carry is refused", async (t) => {
  await t.rejects(startRegistration("a\ud800"), { code: "invalid_input" });
  await t.rejects(startLogin("a\ud800"), { code: "invalid_input" });
});

void t.test("a login gives the export key of the registration and a session key that the server has too", async (t) => {
  const { client, server: serverLoginState, answer } = await answerLogin(record, password);
  const login = await finishLogin({ state: client, loginResponse: answer, password });
  t.equal(login.exportKey, exportKey);
  const finished = server.finishLogin({ serverLoginState, finishLoginRequest: login.finishLoginRequest });
  t.equal(finished.sessionKey, login.sessionKey);
  t.equal((await userKeySealKey(login.exportKey)).length, 32);
});

void t.test("two registrations of one password have nothing in common", async (t) => {
  const other = await register();
  t.not(other.record, record);
  t.not(other.exportKey, exportKey);
});

void t.test("a wrong password and an account that does not exist fail alike", async (t) => {
  for (const [stored, typed] of [
    [record, "correct horsf"],
    [null, password],
  ] as const) {
    const { client, answer } = await answerLogin(stored, typed);
    const login = finishLogin({ state: client, loginResponse: answer, password: typed });
    await t.rejects(login, { code: "login_failed", message: "wrong e-mail or password" });
  }
});

void t.test("the stretching is Argon2id with 3 passes over 64 MiB in 4 lanes, and nothing less", async (t) => {
  const { clientRegistrationState, registrationRequest } = library.startRegistration({ password });
  const { registrationResponse } = server.createRegistrationResponse({ ...account, registrationRequest });
  for (const [memory, opens] of [
    [65_536, true],
    [65_535, false],
  ] as const) {
    const keyStretching = { "argon2id-custom": { iterations: 3, memory, parallelism: 4 } };
    const made = library.finishRegistration({ clientRegistrationState, registrationResponse, password, keyStretching });
    const { client, answer } = await answerLogin(made.registrationRecord, password);
    const login = finishLogin({ state: client, loginResponse: answer, password });
    if (opens) t.equal((await login).exportKey, made.exportKey);
    else await t.rejects(login, { code: "login_failed" });
  }
});

void t.test("a malformed message of the server is refused without being quoted", async (t) => {
  const { client } = await answerLogin(record, password);
  for (const loginResponse of ["", "?", "AAAA", "A".repeat(400)]) {
    const login = finishLogin({ state: client, loginResponse, password });
    await t.rejects(login, { code: "invalid_server_answer", cause: undefined });
  }
  const { state } = await startRegistration(password);
  const registration = finishRegistration({ state, registrationResponse: "AAAA", password });
  await t.rejects(registration, { code: "invalid_server_answer", cause: undefined });
});

void t.test("an answer that is spread into the arguments cannot choose how the password is stretched", async (t) => {
  const { client, answer } = await answerLogin(record, password);
  const settings = [
    { keyStretching: { "argon2id-custom": { iterations: 1, memory: 8, parallelism: 1 } } },
    { identifiers: {} },
  ];
  for (const setting of settings) {
    const login = finishLogin({ state: client, loginResponse: answer, password, ...setting });
    await t.rejects(login, { code: "weak_key_stretching" });
    const registration = finishRegistration({ state: client, registrationResponse: answer, password, ...setting });
    await t.rejects(registration, { code: "weak_key_stretching" });
  }
});

void t.test("an export key of another length makes no key", async (t) => {
  for (const wrong of ["", exportKey.slice(4), `${exportKey}AAAA`, `${exportKey}=`, "?"]) {
    await t.rejects(userKeySealKey(wrong), { code: "invalid_key" });
  }
});
