import { permissions } from "@coffer/contract";
import type { OptionRow } from "../command-row.ts";

/** The permission of a grant. Its own file: `coffer scan` starts without the contract. */
export const permissionOption: OptionRow = {
  flags: "--permission <permission>",
  description: "what the member may do",
  choices: permissions,
  preset: "read",
};
