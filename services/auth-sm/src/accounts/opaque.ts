import { ServiceError } from "@coffer/errors";
import { client, ready, server } from "@serenity-kit/opaque";

// The server's half of OPAQUE (RFC 9807). Messages are base64url of fixed lengths. The library
// ignores extra bytes at the end, so this module checks the lengths. `name` is the library's name
// for a message in its errors.
const messages = {
  registration_request: { name: "registrationRequest", form: /^[\w-]{43}$/ },
  registration_record: { name: "registrationRecord", form: /^[\w-]{256}$/ },
  start_login_request: { name: "startLoginRequest", form: /^[\w-]{128}$/ },
  finish_login_request: { name: "finishLoginRequest", form: /^[\w-]{86}$/ },
} as const;
type Message = keyof typeof messages;

await ready;

/** A new OPAQUE setup: the server's key pair, and the seed of its answers for each e-mail. */
export function newServerSetup(): string {
  return server.createSetup();
}

/**
 * Answers a client that registers or changes its password.
 * @throws ServiceError `invalid_request` for a malformed request
 */
export function respondToRegistration(serverSetup: string, email: string, registrationRequest: string): string {
  return reading("registration_request", registrationRequest, () => {
    const answer = server.createRegistrationResponse({ serverSetup, userIdentifier: email, registrationRequest });
    return answer.registrationResponse;
  });
}

/** Any login request that parses; its content does not matter. */
const { startLoginRequest: anyLoginRequest } = client.startLogin({ password: "" });

/**
 * Refuses a record that no login could be checked against.
 * @throws ServiceError `invalid_request`
 */
export function requireRegistrationRecord(serverSetup: string, email: string, registrationRecord: string): void {
  reading("registration_record", registrationRecord, () =>
    server.startLogin({ serverSetup, userIdentifier: email, registrationRecord, startLoginRequest: anyLoginRequest }),
  );
}

/**
 * Answers a client that starts a login. Without a record (unknown e-mail) the answer has the same
 * form, takes as long, and can never be finished.
 * @returns the answer, and the state that `isLoginProven` needs
 * @throws ServiceError `invalid_request` for a malformed request
 */
export function respondToLogin(
  serverSetup: string,
  email: string,
  registrationRecord: string | null,
  startLoginRequest: string,
): { loginResponse: string; serverState: string } {
  return reading("start_login_request", startLoginRequest, () => {
    const started = server.startLogin({ serverSetup, userIdentifier: email, registrationRecord, startLoginRequest });
    return { loginResponse: started.loginResponse, serverState: started.serverLoginState };
  });
}

/**
 * Whether the final message of a login proves the password.
 * @throws ServiceError `invalid_request` for a malformed message
 */
export function isLoginProven(serverState: string, finishLoginRequest: string): boolean {
  return reading("finish_login_request", finishLoginRequest, () => {
    try {
      server.finishLogin({ serverLoginState: serverState, finishLoginRequest });
      return true;
    } catch (error) {
      if (String(error).includes("Error in validating credentials")) return false;
      throw error;
    }
  });
}

function reading<T>(field: Message, text: string, work: () => T): T {
  const { name, form } = messages[field];
  if (!form.test(text)) throw malformed(field);
  try {
    return work();
  } catch (error) {
    if (String(error).includes(name)) throw malformed(field);
    throw error;
  }
}

function malformed(field: Message): ServiceError {
  return new ServiceError("invalid_request", `${field} is not a message of OPAQUE as this server speaks it`, {
    details: [{ field, issue: "not a message of OPAQUE" }],
  });
}
