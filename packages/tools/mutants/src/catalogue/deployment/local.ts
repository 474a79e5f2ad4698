import type { Mutant } from "../../mutant.ts";

const permissions = "packages/ratelimit/src/permissions.ts";
const permissionsTest = "packages/ratelimit/test/permissions.test.ts";
const user = "packages/stores/src/server-user.ts";
const place = "deploy/local/src/data/stores-place.ts";
const placeTest = "deploy/local/test/start/stores-place.test.ts";
const oneProcess = "deploy/local/test/start/one-process.test.ts";
const installation = "deploy/local/src/data/installation.ts";

/** A local run with stores that allow too much, or with unknown data. */
export const localMutants: readonly Mutant[] = [
  {
    name: "redis-readers-write",
    file: permissions,
    find: "version < 7 ? `~${key}`",
    replace: "version < 70 ? `~${key}`",
    tests: [permissionsTest],
  },
  {
    name: "redis-users-have-every-key",
    file: permissions,
    find: "readWrite: [`${keyPrefix}*`],",
    replace: 'readWrite: ["*"],',
    tests: [permissionsTest],
  },
  {
    name: "redis-users-have-every-command",
    file: permissions,
    find: 'const connection = ["info", "cluster|info", "cluster|slots"];',
    replace: 'const connection = ["@all"];',
    tests: [permissionsTest],
  },
  {
    name: "redis-lets-in-without-a-password",
    file: permissions,
    find: "on ${passwordHash(ownerPassword)} ~* &* +@all",
    replace: "on nopass ~* &* +@all",
    tests: [permissionsTest],
  },
  {
    name: "start-goes-on-with-another-format",
    file: installation,
    find: "format !== null && format !== dataFormat",
    replace: "format === -1",
    tests: ["deploy/local/test/start/startup-errors.test.ts"],
  },
  {
    name: "start-leaves-its-file-when-it-gives-up",
    file: "deploy/local/supervise-server.mjs",
    find: "      return removeRunFile(serving, end);",
    replace: "      return end;",
    tests: ["deploy/local/test/start/restarts.test.ts"],
  },
  {
    name: "every-command-that-sends-messages-is-restarted",
    file: "deploy/local/supervise-server.mjs",
    find: 'typeof message?.runFile !== "string"',
    replace: "message === null",
    tests: ["deploy/local/test/start/launch.test.ts"],
  },
  {
    name: "start-restarts-for-ever",
    file: "deploy/local/supervise-server.mjs",
    find: "failures > mostRestarts",
    replace: "failures > 2 * mostRestarts",
    tests: ["deploy/local/test/start/restarts.test.ts"],
  },
  {
    name: "stores-with-a-capability",
    file: user,
    find: '"--bounding-set=-all"',
    replace: '"--bounding-set=-all,+dac_override"',
    tests: [oneProcess],
  },
  {
    name: "stores-may-gain-privileges",
    file: user,
    find: '          "--no-new-privs",\n',
    replace: "",
    tests: [oneProcess],
  },
  {
    name: "place-of-another-user",
    file: place,
    find: "found.uid === 0 && (found.mode",
    replace: "found.uid >= 0 && (found.mode",
    tests: [placeTest],
  },
  {
    name: "place-that-others-change",
    file: place,
    find: "(found.mode & 0o022) === 0",
    replace: "found.mode >= 0",
    tests: [placeTest],
  },
  {
    name: "place-behind-a-link",
    file: place,
    find: "lstatSync(folder)",
    replace: '(folder === "" ? lstatSync(folder) : statSync(folder))',
    tests: [placeTest],
  },
  {
    name: "place-of-the-original-for-a-copy",
    file: place,
    find: "owner !== null && aboutInstallation(owner)?.stores === place",
    replace: 'owner === "" && aboutInstallation(owner)?.stores === place',
    tests: [placeTest],
  },
  {
    name: "reset-removes-anothers-place",
    file: place,
    find: "&& ownerOf(place) === realpathSync(dataDirectory)",
    replace: "&& ownerOf(place) !== dataDirectory",
    tests: [placeTest],
  },
  {
    name: "nats-release-with-another-checksum",
    file: "packages/stores/src/nats-release.ts",
    find: "if (found !== expected)",
    replace: 'if (found === "")',
    tests: ["packages/stores/test/nats-release.test.ts"],
  },
  {
    name: "welcome-page-takes-an-address-as-code",
    file: "deploy/local/src/welcome.ts",
    find: `return text.replace(/[&<>"']/g`,
    replace: `return text.replace(/[&"']/g`,
    tests: ["deploy/local/test/welcome.test.ts"],
  },
  {
    name: "welcome-page-may-be-framed",
    file: "deploy/local/src/welcome.ts",
    find: `  "frame-ancestors 'none'",\n`,
    replace: "",
    tests: ["deploy/local/test/welcome.test.ts"],
  },
  {
    name: "backup-readable-by-others",
    file: "deploy/local/src/backup.ts",
    find: 'openSync(path, "wx", 0o600)',
    replace: 'openSync(path, "wx", 0o644)',
    tests: ["deploy/local/test/backup/backup.test.ts"],
  },
  {
    name: "restore-replaces-without-yes",
    file: "deploy/local/src/restore.ts",
    find: "if (!yes) await confirm(dataDirectory);",
    replace: 'if (yes && dataDirectory === "") await confirm(dataDirectory);',
    tests: ["deploy/local/test/backup/backup.test.ts"],
  },
  {
    name: "restore-writes-outside-its-tables",
    file: "packages/stores/src/copy-database.ts",
    find: "if (tablesLeft.get(name)?.columns.join() !== item.table.columns.join())",
    replace: 'if (name === "")',
    tests: ["packages/stores/test/copy-database.test.ts"],
  },
];
