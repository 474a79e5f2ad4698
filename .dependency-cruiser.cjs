// The one direction in which imports go; each rule names the room that may not be entered.
const foundation = "^packages/(contract|errors|events|env)/";
const middle = "^packages/(telemetry|tokens|crypto|history)/";
const borders = "^packages/(ratelimit|postgres|bus|http)/";

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      // A circle of types alone is erased before anything runs.
      name: "no-circular",
      severity: "error",
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    { name: "resolvable", severity: "error", from: {}, to: { couldNotResolve: true } },
    {
      name: "foundation-imports-nothing-above",
      severity: "error",
      from: { path: foundation },
      to: { path: "^(packages|services|deploy)/", pathNot: foundation },
    },
    {
      name: "contract-imports-nothing-of-ours",
      severity: "error",
      from: { path: "^packages/contract/src/" },
      to: { path: "^(packages|services|deploy)/", pathNot: "^packages/contract/" },
    },
    {
      name: "middle-imports-foundation-only",
      severity: "error",
      from: { path: middle, pathNot: "/test/" },
      to: { path: "^(packages|services|deploy)/", pathNot: [foundation, middle] },
    },
    {
      name: "borders-import-no-service",
      severity: "error",
      from: { path: borders },
      to: { path: "^(services|deploy)/" },
    },
    {
      name: "borders-know-no-outbox",
      severity: "error",
      from: { path: borders, pathNot: "/test/" },
      to: { path: "^packages/(outbox|quota|service)/" },
    },
    {
      name: "packages-import-no-service",
      severity: "error",
      from: { path: "^packages/", pathNot: "^packages/tools/" },
      to: { path: "^(services|deploy)/" },
    },
    {
      name: "tools-are-for-development",
      severity: "error",
      from: { path: "^(packages|services)/", pathNot: ["^packages/tools/", "/test/"] },
      to: { path: "^packages/tools/" },
    },
    {
      name: "a-service-imports-no-service",
      severity: "error",
      from: { path: "^services/([^/]+)/" },
      to: { path: "^services/", pathNot: "^services/$1/" },
    },
    {
      name: "services-import-no-deployment",
      severity: "error",
      from: { path: "^services/" },
      to: { path: "^deploy/" },
    },
    {
      name: "testkit-in-tests-only",
      severity: "error",
      from: {
        path: "^(packages|services|deploy)/",
        pathNot: ["/test/", "^packages/testkit/", "^packages/tools/(bench|fuzz)/"],
      },
      to: { path: "^packages/testkit/" },
    },
    {
      name: "the-description-in-tests-only",
      severity: "error",
      from: {
        path: "^(packages|services|deploy)/",
        pathNot: ["/test/", "^packages/openapi/", "^packages/tools/fuzz/"],
      },
      to: { path: "^packages/openapi/" },
    },
    {
      name: "services-run-without-stores",
      severity: "error",
      from: { path: "^services/[^/]+/src/" },
      to: { path: "^packages/(stores|sdk|cli|crypto|import)/" },
    },
    {
      name: "import-reads-and-writes-files-alone",
      severity: "error",
      from: { path: "^packages/import/src/" },
      to: { path: "^(packages|services|deploy)/", pathNot: "^packages/(import|crypto)/" },
    },
    {
      name: "scan-imports-nothing-of-ours",
      severity: "error",
      from: { path: "^packages/scan/src/" },
      to: { path: "^(packages|services|deploy)/", pathNot: "^packages/scan/" },
    },
    {
      // A hook runs it before each commit: it starts without what it does not need.
      name: "coffer-scan-loads-no-sdk",
      severity: "error",
      from: { path: "^packages/cli/src/commands/scan/scan\\.ts$" },
      to: { path: "^packages/(crypto|history|sdk/src/(?!(errors|version)\\.ts))", reachable: true },
    },
    {
      // Only what has checked the caller opens what a statement read for the caller.
      name: "access-alone-opens-rows",
      severity: "error",
      from: { path: "^services/[^/]+/src/", pathNot: "^services/[^/]+/src/access/" },
      to: { path: "^services/[^/]+/src/access/opened\\.ts$" },
    },
    {
      name: "pg-and-slonik-have-their-rooms",
      severity: "error",
      from: {
        path: "^(packages|services|deploy)/",
        pathNot: [
          "^packages/(postgres|stores|testkit)/",
          "^services/[^/]+/src/store/",
          "/test/",
          "^packages/tools/bench/",
        ],
      },
      to: { path: "node_modules/(slonik|@slonik/[^/]+|pg)/" },
    },
    {
      name: "nats-in-bus-only",
      severity: "error",
      from: { path: "^(packages|services|deploy)/", pathNot: "^packages/bus/" },
      to: { path: "node_modules/@nats-io/" },
    },
    {
      name: "express-in-http-only",
      severity: "error",
      from: { path: "^(packages|services|deploy)/", pathNot: ["^packages/http/", "^packages/tools/bench/"] },
      to: { path: "node_modules/express/" },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "(^|/)(dist|\\.tap)/" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node", "default"] },
  },
};
