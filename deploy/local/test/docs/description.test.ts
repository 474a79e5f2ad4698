import { pathToFileURL } from "node:url";
import { resolve } from "node:path";
import type { Route } from "@coffer/http";
import { loadDescription, problemsOf, routeProblems, closed } from "@coffer/openapi";
import t from "tap";
import { checkout } from "../../src/checkout.ts";
import { onBus, presentServices } from "../../src/services/services.ts";

/** The security schemes of the description, by the function that finds a route's caller. */
const schemes: Readonly<Record<string, readonly string[]>> = {
  anyone: [],
  authenticateMachine: ["machine"],
  authenticateUser: ["person"],
  authenticateCaller: ["person", "machine"],
  // Its signature is a header, which no scheme of OpenAPI can describe.
  stripe: [],
};

/** The route tables of every service of this checkout. */
async function allRoutes(): Promise<Route<never>[]> {
  const tables = await Promise.all(
    onBus(presentServices()).map(async ({ name }) => {
      const file = resolve(checkout, "services", name, "src/routes.ts");
      return (await import(pathToFileURL(file).href)) as { routes: Route<never>[] }; // what every service exports
    }),
  );
  return tables.flatMap(({ routes }) => routes);
}

await t.test("every route is described, and every described operation has a route", async (t) => {
  const routes = await allRoutes();
  t.ok(routes.length > 30, `${routes.length} routes`);
  const schemesOf = ({ caller }: Route<never>): readonly string[] => schemes[caller.name] ?? [caller.name];
  t.same(routeProblems(loadDescription(), routes, schemesOf), []);
});

await t.test("the examples of bodies and answers match the description in all fields", (t) => {
  for (const { id, body, answers } of loadDescription().operations) {
    for (const example of body?.examples ?? []) t.same(problemsOf(closed(body?.schema ?? {}), example), [], id);
    for (const [status, { schema, examples }] of answers)
      for (const example of examples) t.same(problemsOf(closed(schema ?? {}), example), [], `${id} ${status}`);
  }
  t.end();
});
