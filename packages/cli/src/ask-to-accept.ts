import type { Offer } from "@coffer/sdk";
import { askYesOrNo } from "./compare-words.ts";
import { visible } from "./output.ts";

/** Asks at the terminal whether a folder or vault that somebody gave is one that the person expects. */
export function askToAccept({ kind, id, name, from, organization }: Offer): Promise<boolean> {
  const of = organization === null ? "" : ` of the organization ${visible(organization.name)} (${organization.id})`;
  const question = `${visible(from)} gave you the ${kind} ${visible(name)} (${id})${of}. Do you expect it, and use it from now on`;
  return Promise.resolve(askYesOrNo(question, `accept it with \`coffer ${kind} accept ${id}\``));
}
