import { account } from "./en/account.ts";
import { audit } from "./en/audit.ts";
import { folders } from "./en/folders.ts";
import { frame } from "./en/frame.ts";
import { machines } from "./en/machines.ts";
import { people } from "./en/people.ts";
import { records } from "./en/records.ts";
import { session } from "./en/session.ts";
import { sharing } from "./en/sharing.ts";
import { transfer } from "./en/transfer.ts";

/** Every text that a person reads in the console. A language that lacks one does not compile. */
export const messages = {
  ...frame,
  ...session,
  ...account,
  ...records,
  ...transfer,
  ...sharing,
  ...folders,
  ...machines,
  ...people,
  ...audit,
};

/** A language: the shape of the English messages. */
export type Messages = typeof messages;
