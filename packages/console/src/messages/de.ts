import { account } from "./de/account.ts";
import { audit } from "./de/audit.ts";
import { folders } from "./de/folders.ts";
import { frame } from "./de/frame.ts";
import { machines } from "./de/machines.ts";
import { people } from "./de/people.ts";
import { records } from "./de/records.ts";
import { session } from "./de/session.ts";
import { sharing } from "./de/sharing.ts";
import { transfer } from "./de/transfer.ts";
import type { Messages } from "./en.ts";

export const messages: Messages = {
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
