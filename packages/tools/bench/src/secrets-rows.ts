import type { Row } from "./row.ts";
import { firstRequest } from "./rows/first-request.ts";
import { fleet } from "./rows/fleet.ts";
import { list } from "./rows/list.ts";
import { memory } from "./rows/memory.ts";
import { notationAndField } from "./rows/notation-and-field.ts";
import { npmStart } from "./rows/npm-start.ts";
import { replicas } from "./rows/replicas.ts";
import { search } from "./rows/search.ts";
import { secretRead } from "./rows/secret-read.ts";
import { secretWrite } from "./rows/secret-write.ts";
import { startUp } from "./rows/start-up.ts";

/** The benchmarks of the Secrets Manager in their order: those that write come last. */
export const secretsRows: readonly Row[] = [
  secretRead,
  firstRequest,
  notationAndField,
  list,
  search,
  replicas,
  fleet,
  startUp,
  npmStart,
  memory,
  secretWrite,
];
