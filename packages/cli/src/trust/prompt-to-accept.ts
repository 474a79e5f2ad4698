import type { Offer } from "@coffer/sdk";
import { visible } from "../output/output.ts";
import { promptYesOrNo } from "./compare-words.ts";

/**
 * Prompts at the terminal whether the person expects a folder or vault that another member shared.
 */
export function promptToAccept({ kind, id, name, from, organization }: Offer): Promise<boolean> {
  const of = organization === null ? "" : ` of the organization ${visible(organization.name)} (${organization.id})`;
  const question = `${visible(from)} gave you the ${kind} ${visible(name)} (${id})${of}. Do you expect it, and use it from now on`;
  return Promise.resolve(promptYesOrNo(question, `accept it with \`coffer ${kind} accept ${id}\``));
}
