import { isUuid } from "@coffer/sdk";
import { exitCodes, Failure, usage } from "../failure.ts";
import { visible } from "../output/output.ts";

/**
 * The object with that id or name, without regard to case. A text in the form of an id is never a
 * name: the service chooses names, and could select another object with one. Throws Failure: not
 * found, or usage when several have the name.
 */
export function pick<T extends { id: string; name: string }>(things: readonly T[], nameOrId: string, noun: string): T {
  const wanted = nameOrId.toLowerCase();
  const found = isUuid(wanted)
    ? things.filter(({ id }) => id === wanted).slice(0, 1)
    : things.filter(({ name }) => name.toLowerCase() === wanted);
  const [first, ...others] = found;
  if (first === undefined) throw new Failure(exitCodes.notFound, `there is no ${noun} ${nameOrId} that you may see`);
  if (others.length > 0) throw severalHave(nameOrId, noun, found);
  return first;
}

/** Lists the ids, one per line, that an ambiguous name may mean. */
export function severalHave(name: string, noun: string, things: readonly { id: string }[]): Failure {
  const ids = things.map(({ id }) => visible(id)).join("\n  ");
  return usage(`${things.length} have the name ${visible(name)}: name the ${noun} by its id, one of\n  ${ids}`);
}
