import type { Call, PersonOptions } from "../../command-row.ts";
import { printNotice } from "../../output/output.ts";
import { asPerson } from "../../service/access.ts";
import { printSessions } from "../people/member.ts";

interface Options extends PersonOptions {
  end?: string;
  endOthers?: boolean;
}

/** `coffer sessions`: lists one's sessions; ends sessions too, within a second. */
export async function sessions({ options, env }: Call<Options>): Promise<void> {
  const person = await asPerson(options, env);
  if (options.endOthers === true) {
    await person.sessions.endOthers();
    printNotice("ended every session but this one");
  } else if (options.end !== undefined) {
    await person.sessions.end(options.end);
    printNotice("ended the session");
  } else printSessions(await person.sessions.list(), options);
}
