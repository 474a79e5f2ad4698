import type { Row } from "../row.ts";
import { firstRequest } from "./first-request.ts";
import { list } from "./list.ts";
import { notationAndField } from "./notation-and-field.ts";
import { npmStart } from "./npm-start.ts";
import { search } from "./search.ts";
import { secretRead } from "./secret-read.ts";
import { secretWrite } from "./secret-write.ts";
import { startUp } from "./start-up.ts";

/** Every benchmark, in the order in which they run: those that write come last. */
export const rows: readonly Row[] = [
  secretRead,
  firstRequest,
  notationAndField,
  list,
  search,
  startUp,
  npmStart,
  secretWrite,
];
