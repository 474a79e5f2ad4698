import { createRandom, type TestScope, until } from "@coffer/testkit";
import { auditProblems, readAudit } from "../../local/test/faults/audit.ts";
import { fleetProblems } from "../../local/test/faults/bootstraps/verify.ts";
import { sessionProblems } from "../../local/test/faults/logins/verify.ts";
import type { Cli } from "../../local/test/cli/cli-person.ts";
import { newOrganization, work } from "../../local/test/faults/organization.ts";
import { expectedContents, presentContents } from "../../local/test/faults/secrets/verify.ts";

/** People and machines that use an organization meanwhile. */
export interface Load {
  /** The command of the organization's owner. */
  cli: Cli;
  /** Waits until each of them has more acknowledged writes. */
  progress(): Promise<void>;
  /** Ends the load; returns the deviations from acknowledged writes. */
  stop(): Promise<string[]>;
}

/** Starts the load in a new organization. */
export async function startLoad(t: TestScope, url: string, email: string): Promise<Load> {
  const organization = await newOrganization(t, url, email);
  const { cli, person, ledger, slots, fleet, member } = organization;
  const ending = new AbortController();
  const names: string[] = [];
  const working = work(organization, (name) => {
    names.push(name);
    return { name, url, ledger, random: createRandom(names.length), stopping: ending.signal };
  });
  t.teardown(() => ending.abort());
  const counts = (): number[] => names.map((name) => ledger.acknowledged.get(name) ?? 0);
  const progress = async (): Promise<void> => {
    const before = counts();
    await until("everyone goes on", () => counts().every((count, at) => count >= (before[at] ?? 0) + 3), 120);
  };
  await progress();
  return {
    cli,
    progress,
    async stop() {
      ending.abort();
      // Nothing else holds this process open while the workers pause.
      const stay = setInterval(() => undefined, 1000);
      await Promise.all(working).finally(() => clearInterval(stay));
      // Acknowledged writes reach the audit through the outbox.
      const newest = async (): Promise<string[]> => auditProblems(ledger, await readAudit(url, person));
      await until("the audit has what was acknowledged", async () => (await newest()).length === 0, 60).catch(
        () => null,
      );
      const audit = await readAudit(url, person);
      const { contents, problems } = expectedContents(slots, audit);
      const present = await presentContents(url, person);
      const different = [...new Set([...contents.keys(), ...present.keys()])].filter(
        (uid) => contents.get(uid) !== present.get(uid),
      );
      const { code, stderr } = await cli.run(["audit", "verify"]);
      return [
        ...ledger.violations,
        ...problems,
        ...auditProblems(ledger, audit),
        ...different.map((uid) => `${uid} has another content than was acknowledged`),
        ...(await fleetProblems(url, person, fleet, audit)),
        ...(await sessionProblems(url, member, audit)),
        ...(code === 0 ? [] : [`coffer audit verify: ${stderr}`]),
      ];
    },
  };
}
