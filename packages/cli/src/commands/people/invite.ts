import { CofferError, type Role } from "@coffer/sdk";
import { accountSecurity } from "@coffer/sdk/account";
import type { Call, PersonOptions } from "../../command-row.ts";
import { exitCodes, Failure, usage } from "../../failure.ts";
import { readPassword, readToken } from "../../input/inputs.ts";
import { print, printJson, printList, printNotice, shortTime } from "../../output/output.ts";
import { profileDirectory } from "../../profile/paths.ts";
import { profileKeeper } from "../../profile/profile.ts";
import { type OtpOptions, promptOtp } from "../../profile/prompt-otp.ts";
import { asPerson } from "../../service/access.ts";
import { mannersOf } from "../../service/manners.ts";
import { canonicalName } from "./share.ts";

interface CreateOptions extends PersonOptions {
  role: Role;
}

/** `coffer invite create <e-mail>`: invites a person and prints the token, once. */
export async function createInvite({ args: [email = ""], options, env }: Call<CreateOptions>): Promise<void> {
  const invite = await (await asPerson(options, env)).invites.create(email, options.role);
  printNotice(
    `invited ${invite.email} as ${invite.role}, until ${shortTime(invite.expires_at)}; the token is shown this once`,
  );
  if (options.json === true) printJson(invite);
  else print(invite.token);
}

/** `coffer invite ls`: the invitations that are open. */
export async function listInvites({ options, env }: Call<PersonOptions>): Promise<void> {
  const invites = await (await asPerson(options, env)).invites.list();
  printList(invites, options, ["ID", "E-MAIL", "ROLE", "EXPIRES"], ({ id, email, role, expires_at }) => [
    id,
    email,
    role,
    shortTime(expires_at),
  ]);
}

/**
 * `coffer invite rm <invitation>`: revokes an invitation by its e-mail or id. The service could list an id
 * beside another person's e-mail.
 */
export async function removeInvite({ args: [invitation = ""], options, env }: Call<PersonOptions>): Promise<void> {
  const { invites } = await asPerson(options, env);
  const email = invitation.includes("@") ? canonicalName(invitation) : undefined;
  const open = email === undefined ? [] : await invites.list();
  const id = email === undefined ? invitation : open.find((one) => canonicalName(one.email) === email)?.id;
  // The service could leave it out of its list.
  const closed = id === undefined ? await invites.close(invitation) : await invites.remove(id, { email });
  if (id === undefined && closed.length === 0)
    throw new Failure(exitCodes.notFound, `there is no invitation of ${invitation} that you may see`);
  printNotice(id === undefined ? "the service lists no such invitation" : "revoked the invitation");
  for (const one of closed) printNotice(`the history of ${one.name} invites ${one.email ?? "it"} no longer`);
}

interface AcceptOptions extends PersonOptions, OtpOptions {
  passwordFile?: string;
}

/**
 * `coffer invite accept`: joins the organization of an invitation; while travelling with the
 * password.
 */
export async function acceptInvite({ options, env }: Call<AcceptOptions>): Promise<void> {
  const token = await readToken(env, "Invitation");
  if (token === undefined) throw usage("no invitation: give it on stdin or in COFFER_TOKEN");
  const person = await asPerson(options, env);
  const organization = await person.invites.accept(token).catch(async (error: unknown) => {
    if (!(error instanceof CofferError) || error.code !== "reauth_required") throw error;
    printNotice("you travel: joining an organization needs your password");
    const password = await readPassword(options.passwordFile, env, false);
    const security = accountSecurity(profileKeeper(profileDirectory(env), person.url), person.url, mannersOf(options));
    const proof = { password, otp: promptOtp(options) };
    return person.invites.accept(token, { prove: (request) => security.prove(proof, request) });
  });
  printNotice(`you are a member of ${organization.name}`);
  if (options.json === true) printJson(organization);
  else print(organization.id);
}
