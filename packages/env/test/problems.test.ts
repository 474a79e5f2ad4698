import t from "tap";
import { ConfigurationError, openTelemetryFromFiles, readEnvironment } from "../src/index.ts";
import { problemsOf } from "./problems-of.ts";

void t.test("all problems are listed at once, a line each", (t) => {
  const env = { COFFER_PORT: "http", COFFER_SIGNUPS: "yes", COFFER_PROT: "1", COFFER_HOST_FILE: "/nowhere/at/all" };
  t.same(problemsOf(env), [
    'COFFER_PORT must be a whole number from 0 to 65535, not "http"',
    "COFFER_HOST cannot be read: COFFER_HOST_FILE names /nowhere/at/all (ENOENT)",
    'COFFER_SIGNUPS must be one of open, invite, closed, not "yes"',
    "COFFER_PROT is not a known name: did you mean COFFER_PORT?",
  ]);
  try {
    readEnvironment(env, ["COFFER_PORT"]);
    t.fail("it must throw");
  } catch (error) {
    t.ok(error instanceof ConfigurationError);
    t.equal(
      String(error),
      "ConfigurationError: The configuration is not usable:\n" +
        '  COFFER_PORT must be a whole number from 0 to 65535, not "http"\n' +
        "  COFFER_PROT is not a known name: did you mean COFFER_PORT?",
    );
  }
  t.end();
});

void t.test("an unknown name stops the start, with the closest known one", (t) => {
  const closest = {
    COFFER_BASEURL: "COFFER_BASE_URL",
    COFFER_POSTGRES_URI: "COFFER_POSTGRES_URL",
    COFFER_POSTGRES_URL_FIEL: "COFFER_POSTGRES_URL_FILE",
    COFFER_LIMITS_STRICT: "COFFER_LIMIT_STRICT",
    COFFER_SIGNUP: "COFFER_SIGNUPS",
    COFFER_TOKENS: "COFFER_TOKEN",
  };
  for (const [unknown, known] of Object.entries(closest))
    t.same(problemsOf({ [unknown]: "x" }, []), [`${unknown} is not a known name: did you mean ${known}?`]);
  t.end();
});

void t.test("a name that only resembles one of the tests is unknown", (t) => {
  t.match(problemsOf({ COFFER_TEST_LIMIT_STRICT: "5" }, []), [/^COFFER_TEST_LIMIT_STRICT is not a known name/]);
  t.notMatch(problemsOf({ COFFER_TEST_DIRECTORYS: "x" }, []).join(), /did you mean COFFER_TEST/);
  t.end();
});

void t.test("an address with a password in it is not quoted", (t) => {
  for (const address of ["https://user:hunter2@vault.example", "https://user:hun/ter2@x", "u:hunter2@vault.example"])
    t.notMatch(problemsOf({ COFFER_BASE_URL: address, COFFER_SYNC_ALLOWED_ORIGINS: address }).join(), /hun/);
  t.equal(problemsOf({ COFFER_BASE_URL: "https://user:hunter2@vault.example" }).length, 1);
  t.end();
});

void t.test("a variable that the program sets itself is never suggested", (t) => {
  t.notMatch(problemsOf({ COFFER_ROUTER_SECRETS: "x" }, []).join(), /did you mean COFFER_ROUTER_SECRET/);
  t.end();
});

void t.test("an unknown name counts even when it is empty", (t) => {
  t.equal(problemsOf({ COFFER_NONSENSE: "" }, []).length, 1);
  t.end();
});

void t.test("names of the command line, of tests and of other programs are ignored", (t) => {
  const env = {
    COFFER_URL: "x",
    COFFER_PASSWORD: "x",
    COFFER_CONFIG: "x",
    COFFER_TOKEN: "x",
    COFFER_TEST_POSTGRES_URL: "x",
    COFFER_TEST_DIRECTORY: "x",
    OTEL_SERVICE_NAME: "x",
    COFFERS: "x",
    PATH: "/bin",
  };
  t.same(problemsOf(env), []);
  t.end();
});

void t.test("known variables that no service requested are not checked", (t) => {
  t.same(problemsOf({ COFFER_PORT: "http" }, ["COFFER_HOST"]), []);
  t.end();
});

void t.test("a variable is read from the file that its _FILE names, without the line break at the end", (t) => {
  const directory = t.testdir({ url: "postgres://u:p@h/db\n", port: "8099" });
  const env = { COFFER_POSTGRES_URL_FILE: `${directory}/url`, COFFER_PORT_FILE: `${directory}/port` };
  const read = readEnvironment(env, ["COFFER_POSTGRES_URL", "COFFER_PORT"]);
  t.same(read, { COFFER_POSTGRES_URL: "postgres://u:p@h/db", COFFER_PORT: 8099 });
  t.end();
});

void t.test("an empty _FILE is the same as none", (t) => {
  t.equal(readEnvironment({ COFFER_PORT: "1", COFFER_PORT_FILE: "" }, ["COFFER_PORT"]).COFFER_PORT, 1);
  t.end();
});

void t.test("a file that is empty, missing or a directory is a problem, and so is a value given twice", (t) => {
  const directory = t.testdir({ empty: "\n", value: "1" });
  const problem = (env: NodeJS.ProcessEnv): readonly string[] => problemsOf(env, ["COFFER_PORT"]);
  t.match(problem({ COFFER_PORT_FILE: `${directory}/empty` }), [/^COFFER_PORT cannot be read: .* is empty$/]);
  t.match(problem({ COFFER_PORT_FILE: `${directory}/missing` }), [/^COFFER_PORT cannot be read: .*\(ENOENT\)$/]);
  t.match(problem({ COFFER_PORT_FILE: directory }), [/^COFFER_PORT cannot be read: .*\(EISDIR\)$/]);
  t.same(problem({ COFFER_PORT_FILE: `${directory}/value`, COFFER_PORT: "1" }), [
    "COFFER_PORT is given twice: take COFFER_PORT or COFFER_PORT_FILE",
  ]);
  t.end();
});

void t.test(
  "a standard OpenTelemetry variable is read by file too, and its file is checked with those of the table",
  (t) => {
    const files = t.testdir({
      endpoint: "http://collector:4318\n",
      other: "collector",
      headers: "k=c4n4ry",
      empty: "",
    });
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT_FILE: `${files}/endpoint`,
      OTEL_EXPORTER_OTLP_HEADERS_FILE: `${files}/headers`,
    };
    t.same(problemsOf(env), []);
    t.equal(readEnvironment(env, ["OTEL_EXPORTER_OTLP_ENDPOINT"]).OTEL_EXPORTER_OTLP_ENDPOINT, "http://collector:4318");
    t.same(openTelemetryFromFiles({ ...env, OTEL_TRACES_SAMPLER: "always_on", OTEL_CONFIG_FILE: "/nowhere" }), {
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318",
      OTEL_EXPORTER_OTLP_HEADERS: "k=c4n4ry",
    });

    const wrong = {
      OTEL_EXPORTER_OTLP_ENDPOINT_FILE: `${files}/missing`,
      OTEL_EXPORTER_OTLP_HEADERS: "k=c4n4ry",
      OTEL_EXPORTER_OTLP_HEADERS_FILE: `${files}/headers`,
      OTEL_SERVICE_NAME_FILE: `${files}/empty`,
    };
    const problems = [
      `OTEL_EXPORTER_OTLP_ENDPOINT cannot be read: OTEL_EXPORTER_OTLP_ENDPOINT_FILE names ${files}/missing (ENOENT)`,
      "OTEL_EXPORTER_OTLP_HEADERS is given twice: take OTEL_EXPORTER_OTLP_HEADERS or OTEL_EXPORTER_OTLP_HEADERS_FILE",
      "OTEL_SERVICE_NAME cannot be read: the file of OTEL_SERVICE_NAME_FILE is empty",
    ];
    t.same(problemsOf(wrong), problems);
    t.same(problemsOf(wrong, ["COFFER_PORT"]), [], "without tracing they are not checked");
    t.throws(() => openTelemetryFromFiles(wrong), new ConfigurationError(problems));
    t.match(problemsOf({ OTEL_EXPORTER_OTLP_ENDPOINT_FILE: `${files}/other` }), [
      /^OTEL_EXPORTER_OTLP_ENDPOINT must be/,
    ]);
    t.end();
  },
);

void t.test("a problem never quotes a secret, whether it came directly or from a file", (t) => {
  const canary = "c4n4ry-value";
  const directory = t.testdir({ secret: canary });
  const names = ["POSTGRES_URL", "REDIS_URL", "NATS_URL", "NATS_CREDENTIALS", "ROUTER_SECRET"];
  for (const name of names) {
    const direct = problemsOf({ [`COFFER_${name}`]: canary });
    const filed = problemsOf({ [`COFFER_${name}_FILE`]: `${directory}/secret` });
    t.ok(direct.length > 0 && filed.length > 0, name);
    t.notMatch([...direct, ...filed].join("\n"), canary, name);
  }
  const controls = problemsOf({ COFFER_STRIPE_WEBHOOK_SECRETS: `${canary}\u0001` });
  t.equal(controls.length, 1);
  t.notMatch(controls.join(), canary);
  t.end();
});

void t.test("two ports differ, unless both are 0", (t) => {
  t.same(problemsOf({ COFFER_PORT: "9000", COFFER_MANAGEMENT_PORT: "9000" }), [
    "COFFER_MANAGEMENT_PORT must differ from COFFER_PORT, which is 9000 too",
  ]);
  t.same(problemsOf({ COFFER_PORT: "0", COFFER_MANAGEMENT_PORT: "0" }), []);
  t.same(problemsOf({ COFFER_PORT: "9000", COFFER_MANAGEMENT_PORT: "9000" }, ["COFFER_PORT"]), []);
  t.end();
});

void t.test("a given NATS and its credentials belong together", (t) => {
  t.match(problemsOf({ COFFER_NATS_URL: "nats://h" }), [/^COFFER_NATS_CREDENTIALS must be given with COFFER_NATS_URL/]);
  t.match(problemsOf({ COFFER_NATS_CREDENTIALS: '{"sync":"p"}' }), [/^COFFER_NATS_URL must be given/]);
  t.end();
});

void t.test("prices without signing secrets are refused", (t) => {
  t.match(problemsOf({ COFFER_STRIPE_PRICES: '{"p":"team"}' }), [/^COFFER_STRIPE_WEBHOOK_SECRETS must be given/]);
  t.same(problemsOf({ COFFER_STRIPE_PRICES: "{}" }), []);
  t.end();
});

void t.test("values that are wrong alone are not compared as well", (t) => {
  t.equal(problemsOf({ COFFER_NATS_URL: "http://h" }).length, 1);
  t.equal(problemsOf({ COFFER_STRIPE_PRICES: "x", COFFER_STRIPE_WEBHOOK_SECRETS: "" }).length, 1);
  t.end();
});
