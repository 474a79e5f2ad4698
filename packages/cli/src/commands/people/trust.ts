import { type Adoption, type ConfirmHolders, isUuid, type PersonClient } from "@coffer/sdk";
import type { Call, DataOptions, PersonOptions } from "../../command-row.ts";
import { exitCodes, Failure, usage } from "../../failure.ts";
import { printJson, printNotice } from "../../output/output.ts";
import { quoteValue } from "../../output/quote-value.ts";
import { asMachine, asPerson, machineConfigurationOf } from "../../service/access.ts";
import { pick } from "../../service/pick.ts";
import { compareWords, compareWordsOfEach, type ConfirmOptions, promptYesOrNo } from "../../trust/compare-words.ts";
import { promptToAccept } from "../../trust/prompt-to-accept.ts";

type Confirming = PersonOptions & ConfirmOptions;

interface AdoptOptions extends PersonOptions {
  yes?: boolean;
}

/** `coffer org adopt <organization>`: starts the history of an organization without one. */
export async function adoptOrganization({ args: [nameOrId = ""], options, env }: Call<Confirming & AdoptOptions>) {
  const person = await asPerson({ ...options, org: nameOrId }, env);
  const confirm = compareWordsOfEach(options, `the organization ${nameOrId} was not adopted`);
  const adoption = await person.organizations.adopt(confirm, promptForHolders(options));
  sayAdopted("organization", adoption, "coffer member confirm", options);
}

/** `coffer org trust <organization>`: trusts its history as the service shows it now. */
export async function trustOrganization({ args: [nameOrId = ""], options, env }: Call<Confirming>): Promise<void> {
  const person = await asPerson(options, env);
  const { id, name } = pick(await person.organizations.nameable(), nameOrId, "organization");
  await person.organizations.trust(id, compareWords(options, `the history of ${name} is not trusted`));
  printNotice(`the history of ${name} is trusted from now on`);
}

/** `coffer folder adopt <id>`: starts the history of a folder without one. */
export async function adoptFolder({ args: [id = ""], options, env }: Call<Confirming & AdoptOptions>): Promise<void> {
  const person = await asPerson(options, env);
  const confirm = compareWordsOfEach(options, `the folder ${id} was not adopted`);
  const adoption = await person.folders.adopt(idOf(id, "folder"), confirm, promptForHolders(options));
  sayAdopted("folder", adoption, "coffer client confirm", options);
  printNotice(
    `its present key came from the service: \`coffer folder rotate ${quoteValue(adoption.name)}\` makes a new one`,
  );
}

/** `coffer vault adopt <id>`: starts the history of a shared vault without one. */
export async function adoptVault({ args: [id = ""], options, env }: Call<AdoptOptions>): Promise<void> {
  const person = await asPerson(options, env);
  const adoption = await person.vaults.adopt(idOf(id, "vault"), promptForHolders(options));
  sayAdopted("vault", adoption, "coffer member confirm", options);
  printNotice(
    `its present key came from the service: \`coffer vault rotate ${quoteValue(adoption.name)}\` makes a new one`,
  );
}

/** `coffer vault trust <id>`: trusts a shared vault's history as the service shows it now. */
export async function trustVault({ args: [id = ""], options, env }: Call<Confirming>): Promise<void> {
  const confirm = compareWords(options, `the history of the vault ${id} is not trusted`);
  await (await asPerson(options, env)).vaults.trust(idOf(id, "vault"), confirm);
  printNotice(`the history of the vault ${id} is trusted from now on`);
}

/**
 * `coffer folder trust <id>`: trusts its history as the service shows it now, as a person or a
 * machine.
 */
export async function trustFolder({
  args: [id = ""],
  options,
  env,
}: Call<DataOptions & ConfirmOptions>): Promise<void> {
  const configuration = machineConfigurationOf(options, env);
  const confirm = compareWords(options, `the history of the folder ${id} is not trusted`);
  if (configuration === undefined) await (await asPerson(options, env)).folders.trust(idOf(id, "folder"), confirm);
  else {
    const machine = await asMachine(configuration, options, env, { mustStore: true });
    await machine.trustFolder(idOf(id, "folder"), confirm);
  }
  printNotice(`the history of the folder ${id} is trusted from now on`);
}

interface AcceptOptions extends PersonOptions {
  yes?: boolean;
}

/** `coffer folder accept <id>`: accepts a folder that another member shared. */
export async function acceptFolder({ args: [id = ""], options, env }: Call<AcceptOptions>): Promise<void> {
  const { folders } = await asPerson(options, env);
  await accept(folders, idOf(id, "folder"), options);
}

/** `coffer vault accept <id>`: accepts a vault that another member shared. */
export async function acceptVault({ args: [id = ""], options, env }: Call<AcceptOptions>): Promise<void> {
  const { vaults } = await asPerson(options, env);
  await accept(vaults, idOf(id, "vault"), options);
}

async function accept(
  { offer: show, accept: take }: Pick<PersonClient["folders"], "offer" | "accept">,
  id: string,
  { yes = false, json }: AcceptOptions,
): Promise<void> {
  const offer = await show(id);
  if (!yes && !(await promptToAccept(offer))) throw new Failure(exitCodes.denied, `${offer.name} was not accepted`);
  await take(id, offer);
  printNotice(`accepted the ${offer.kind} ${offer.name} from ${offer.from}`);
  if (json === true) printJson(offer);
}

interface KeyringOptions extends PersonOptions {
  yes?: boolean;
}

/** `coffer keyring trust`: replaces the keyring by what the service shows. */
export async function trustKeyring({ options, env }: Call<KeyringOptions>): Promise<void> {
  const person = await asPerson(options, env);
  const left = await person.keyring.trust((shown) => {
    for (const { res, name, signer, fingerprint } of shown)
      printNotice(`${name} (${res}), last signed by ${signer}\n  ${fingerprint.words}`.replaceAll("\n", " "));
    if (options.yes === true) return Promise.resolve(true);
    const question = "Compare the words with those people. Are they the same, and is all of it expected";
    return Promise.resolve(promptYesOrNo(question, "compare the words of each, and give --yes"));
  });
  printNotice("this device trusts what was shown, and shares it with your other devices");
  for (const { res, name } of left) {
    const [kind = "", id = ""] = res.split(":");
    printNotice(
      `${name} (${res}) stays as this device knows it, because the service shows an older or another state of it. ` +
        `After a restore that the operator has announced: \`coffer ${kind} trust ${id}\``,
    );
  }
}

/** Shows the holders that an adoption would sign, with their permissions. Prompts unless `--yes` is given. */
function promptForHolders({ yes = false }: AdoptOptions): ConfirmHolders {
  return (holders) => {
    for (const { kind, id, name, permission } of holders)
      printNotice(`${kind === "user" ? name : `the machine ${name} (${id})`} may ${permission}`);
    if (yes) return Promise.resolve(true);
    const question = "The service has stated who they are, and what they may. May all of them have that";
    return Promise.resolve(promptYesOrNo(question, "check them, and give --yes"));
  };
}

function sayAdopted(noun: string, { name, left_out }: Adoption, how: string, { json }: PersonOptions): void {
  printNotice(`the ${noun} ${name} has a history from now on`);
  for (const { kind, id, name: left } of left_out) {
    const who = kind === "user" ? left : `the machine ${left} (${id})`;
    printNotice(`its history does not name ${who}: compare words, then \`${how} ${id}\``);
  }
  if (json === true) printJson({ name, left_out });
}

/** An unverified object is named by its id, because the service chooses its name. */
function idOf(text: string, noun: "folder" | "vault"): string {
  if (isUuid(text)) return text.toLowerCase();
  throw usage(`${text} is no id: \`coffer ${noun} ls\` shows the ids`);
}
