import type { Role } from "@coffer/sdk";
import { asPerson } from "../access.ts";
import type { Call, PersonOptions } from "../command-row.ts";
import { usage } from "../failure.ts";
import { print, printJson, printList, shortTime, tell } from "../output.ts";
import { readToken } from "../inputs.ts";

interface CreateOptions extends PersonOptions {
  role: Role;
}

/** `coffer invite create <e-mail>`: invites a person; prints the token this once. */
export async function createInvite({ args: [email = ""], options, env }: Call<CreateOptions>): Promise<void> {
  const invite = await (await asPerson(options, env)).invites.create(email, options.role);
  tell(
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

/** `coffer invite rm <id>`: withdraws an invitation. */
export async function removeInvite({ args: [id = ""], options, env }: Call<PersonOptions>): Promise<void> {
  await (await asPerson(options, env)).invites.remove(id);
  tell("withdrew the invitation");
}

/** `coffer invite accept`: joins the organization that has invited one. */
export async function acceptInvite({ options, env }: Call<PersonOptions>): Promise<void> {
  const token = await readToken(env, "Invitation");
  if (token === undefined) throw usage("no invitation: give it on stdin or in COFFER_TOKEN");
  const organization = await (await asPerson(options, env)).invites.accept(token);
  tell(`you are a member of ${organization.name}`);
  if (options.json === true) printJson(organization);
  else print(organization.id);
}
