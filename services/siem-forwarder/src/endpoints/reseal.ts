import type { Sweep } from "@coffer/service";
import type { Deps } from "../deps.ts";
import { listSealedOtherwise, replaceSealed } from "../store/endpoints.ts";

const everyMilliseconds = 60 * 60 * 1_000;
const batchSize = 100;
const beforeAll = "00000000-0000-0000-0000-000000000000";

/**
 * Seals credentials of other keys under the first key, so that the other keys can be removed.
 * Credentials that no key opens are not changed: their key may be configured again.
 */
export function resealSweep(deps: Pick<Deps, "database" | "sealer">): Sweep {
  return {
    everyMilliseconds,
    failure: "SIEM credentials could not be sealed again",
    async batch() {
      for (let afterId = beforeAll, more = true; more;) {
        const { pool } = deps.database;
        const { currentPrefix } = deps.sealer;
        const rows = await listSealedOtherwise(pool, { currentPrefix, afterId, limit: batchSize });
        for (const { id, credentials } of rows) {
          const text = deps.sealer.open(credentials, id);
          if (text !== null) await replaceSealed(pool, { id, from: credentials, to: deps.sealer.seal(text, id) });
        }
        more = rows.length === batchSize;
        afterId = rows.at(-1)?.id ?? afterId;
      }
      return false;
    },
  };
}
