import type { Offer } from "@coffer/sdk";
import { visible } from "../output/output.ts";
import { promptYesOrNo } from "./compare-words.ts";

/**
 * Prompts at the terminal whether the person expects a folder or vault that another member shared.
 */
export function promptToAccept(offer: Offer): Promise<boolean> {
  return Promise.resolve(
    promptYesOrNo(questionOf(offer), `accept it with \`coffer ${offer.kind} accept ${offer.id}\``),
  );
}

export function questionOf({ kind, id, name, from, organization, same_name: others }: Offer): string {
  const of = organization === null ? "" : ` of the organization ${visible(organization.name)} (${organization.id})`;
  const warning =
    others.length === 0 ? "" : ` You use another ${kind} of that name, ${others.join(", ")}: the service may hide it.`;
  return `${visible(from)} gave you the ${kind} ${visible(name)} (${id})${of}.${warning} Do you expect it, and use it from now on`;
}
