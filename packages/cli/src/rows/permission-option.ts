import { permissions } from "@coffer/contract";
import type { OptionRow } from "../command-row.ts";

/** The permission of a grant. A file of its own: `coffer scan` starts without the contract. */
export const permissionOption: OptionRow = {
  flags: "--permission <permission>",
  description: "what the member may do",
  choices: permissions,
  preset: "read",
};
