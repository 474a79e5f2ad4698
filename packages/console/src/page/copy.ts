import { m } from "../messages/messages.ts";
import { explain } from "./explain.ts";
import { toast } from "./parts/toast.tsx";

/** Copies what the worker gives; the text is never on the page. `what` names it. */
export async function copy(what: string, text: () => Promise<string>): Promise<void> {
  try {
    await writeText(await text());
    toast(m.copied(what));
  } catch (error) {
    toast(error instanceof DOMException ? m.copyFailed : explain(error));
  }
}

function writeText(text: string): Promise<void> {
  return navigator.clipboard.writeText(text);
}
