import { resolve } from "node:path";
import t from "tap";
import { localBaseUrls, readEnvironment, type VariableName } from "../src/index.ts";
import { allNames, problemsOf } from "./problems-of.ts";

void t.test("with nothing given every variable has its documented default", (t) => {
  t.same(readEnvironment({}, allNames), {
    COFFER_PORT: 8080,
    COFFER_HOST: "127.0.0.1",
    COFFER_MANAGEMENT_PORT: 0,
    COFFER_DATA_DIR: resolve(import.meta.dirname, "../../../.coffer"),
    COFFER_BASE_URL: ["http://127.0.0.1:8080", "http://localhost:8080"],
    COFFER_POSTGRES_URL: undefined,
    COFFER_NATS_URL: undefined,
    COFFER_NATS_CREDENTIALS: undefined,
    COFFER_REDIS_URL: undefined,
    COFFER_REPLICAS: 1,
    COFFER_DRAIN_SECONDS: 10,
    COFFER_PROCESSES: "one",
    COFFER_TRUSTED_PROXY_CIDRS: [],
    COFFER_LIMIT_STRICT: 5,
    COFFER_LIMIT_STANDARD: 60,
    COFFER_LIMIT_USER: 300,
    COFFER_LIMIT_SOCKETS_SESSION: 20,
    COFFER_LIMIT_SOCKETS_USER: 200,
    COFFER_QUOTA_SECRETS: 100_000,
    COFFER_QUOTA_RECORDS: 100_000,
    COFFER_QUOTA_MIB: 2048,
    COFFER_ACCESS_TOKEN_SECONDS: 900,
    COFFER_SIGNUPS: "open",
    COFFER_STRIPE_WEBHOOK_SECRETS: [],
    COFFER_STRIPE_PRICES: {},
    COFFER_BILLING: "off",
    COFFER_SIEM_ALLOWED_CIDRS: [],
    COFFER_SIEM_KEYS: [],
    COFFER_CONSOLE: "on",
    COFFER_CONSOLE_DIR: resolve(import.meta.dirname, "../../console/dist/release"),
    COFFER_SYNC_ALLOWED_ORIGINS: ["http://127.0.0.1:8080", "http://localhost:8080"],
    COFFER_LOG_LEVEL: "info",
    OTEL_EXPORTER_OTLP_ENDPOINT: undefined,
    COFFER_ROUTER_SECRET: undefined,
  });
  t.end();
});

void t.test("only requested variables are read, and they are typed", (t) => {
  const read = readEnvironment({ COFFER_PORT: "1234", COFFER_HOST: "::1" }, ["COFFER_PORT", "COFFER_SIGNUPS"]);
  const port: number = read.COFFER_PORT;
  const signups: "open" | "invite" | "closed" = read.COFFER_SIGNUPS;
  t.same([port, signups], [1234, "open"]);
  t.same(Object.keys(read), ["COFFER_PORT", "COFFER_SIGNUPS"]);
  t.end();
});

void t.test("an empty variable is the same as none, and blanks around a value are dropped", (t) => {
  const read = readEnvironment({ COFFER_PORT: "", COFFER_REPLICAS: " 3\n", COFFER_SIEM_ALLOWED_CIDRS: " " }, allNames);
  t.equal(read.COFFER_PORT, 8080);
  t.equal(read.COFFER_REPLICAS, 3);
  t.same(read.COFFER_SIEM_ALLOWED_CIDRS, []);
  t.end();
});

void t.test("the base addresses and allowed origins follow the port", (t) => {
  const read = readEnvironment({ COFFER_PORT: "9000" }, ["COFFER_BASE_URL", "COFFER_SYNC_ALLOWED_ORIGINS"]);
  t.same(read.COFFER_BASE_URL, localBaseUrls(9000));
  t.same(read.COFFER_SYNC_ALLOWED_ORIGINS, ["http://127.0.0.1:9000", "http://localhost:9000"]);
  t.end();
});

void t.test("with port 0 the base addresses are not known yet", (t) => {
  const read = readEnvironment({ COFFER_PORT: "0" }, ["COFFER_BASE_URL", "COFFER_SYNC_ALLOWED_ORIGINS"]);
  t.same(read, { COFFER_BASE_URL: [], COFFER_SYNC_ALLOWED_ORIGINS: [] });
  t.end();
});

void t.test("the allowed origins follow the base addresses, without their paths and each once", (t) => {
  const env = { COFFER_BASE_URL: "https://a.example/one, https://a.example/two, http://b.example:80" };
  const read = readEnvironment(env, ["COFFER_BASE_URL", "COFFER_SYNC_ALLOWED_ORIGINS"]);
  t.same(read.COFFER_BASE_URL, ["https://a.example/one", "https://a.example/two", "http://b.example"]);
  t.same(read.COFFER_SYNC_ALLOWED_ORIGINS, ["https://a.example", "http://b.example"]);
  t.end();
});

void t.test("base addresses lose their trailing slash and their doubles", (t) => {
  const env = { COFFER_BASE_URL: "https://Coffer.Example/,https://coffer.example,https://coffer.example:443//" };
  t.same(readEnvironment(env, ["COFFER_BASE_URL"]).COFFER_BASE_URL, ["https://coffer.example"]);
  t.end();
});

void t.test("networks keep their order; an address alone is the network of that address", (t) => {
  const env = { COFFER_TRUSTED_PROXY_CIDRS: "10.0.0.0/8, 192.168.1.7,fd00::/8,::1,0.0.0.0/0" };
  t.same(readEnvironment(env, ["COFFER_TRUSTED_PROXY_CIDRS"]).COFFER_TRUSTED_PROXY_CIDRS, [
    "10.0.0.0/8",
    "192.168.1.7/32",
    "fd00::/8",
    "::1/128",
    "0.0.0.0/0",
  ]);
  t.end();
});

void t.test("credentials of the bus are by service, as a password or with a user of another name", (t) => {
  const env = {
    COFFER_NATS_URL: "nats://a:4222,nats://b:4222",
    COFFER_NATS_CREDENTIALS: JSON.stringify({ vaults: "pw", "auth-sm": { user: "u", password: "p" } }),
  };
  const read = readEnvironment(env, ["COFFER_NATS_URL", "COFFER_NATS_CREDENTIALS"]);
  t.same(read.COFFER_NATS_CREDENTIALS, {
    vaults: { user: "vaults", password: "pw" },
    "auth-sm": { user: "u", password: "p" },
  });
  t.equal(read.COFFER_NATS_URL, "nats://a:4222,nats://b:4222");
  t.end();
});

void t.test("billing is on with signing secrets, unless it is said to be off", (t) => {
  const billingOf = (env: NodeJS.ProcessEnv): string => readEnvironment(env, allNames).COFFER_BILLING;
  t.equal(billingOf({ COFFER_STRIPE_WEBHOOK_SECRETS: "whsec_a" }), "stripe");
  t.equal(billingOf({ COFFER_STRIPE_WEBHOOK_SECRETS: "whsec_a", COFFER_BILLING: "off" }), "off");
  t.equal(readEnvironment({ COFFER_BILLING: "stripe" }, ["COFFER_BILLING"]).COFFER_BILLING, "stripe");
  t.end();
});

void t.test("prices map any id to a plan, also one named like a member of every object", (t) => {
  const env = {
    COFFER_STRIPE_WEBHOOK_SECRETS: "whsec_old,whsec_new",
    COFFER_STRIPE_PRICES: '{"price_1":"team","business_yearly":"business","constructor":"free"}',
  };
  const read = readEnvironment(env, allNames);
  t.same(read.COFFER_STRIPE_WEBHOOK_SECRETS, ["whsec_old", "whsec_new"]);
  t.equal(read.COFFER_STRIPE_PRICES["price_1"], "team");
  t.equal(read.COFFER_STRIPE_PRICES["constructor"], "free");
  t.notOk("toString" in read.COFFER_STRIPE_PRICES);
  t.end();
});

void t.test("a relative data directory is taken from the working directory", (t) => {
  const read = readEnvironment({ COFFER_DATA_DIR: "state/here" }, ["COFFER_DATA_DIR"]);
  t.equal(read.COFFER_DATA_DIR, resolve("state/here"));
  t.end();
});

const edges: [VariableName, string[], string[]][] = [
  ["COFFER_PORT", ["0", "65535"], ["-1", "65536", "80.5", "0x50", "eighty", "1e3"]],
  ["COFFER_MANAGEMENT_PORT", ["0", "65535"], ["65536"]],
  ["COFFER_HOST", ["0.0.0.0", "::", "[::1]", "localhost", "my-host.example"], ["a b", "http://x", "-x", "x/y"]],
  [
    "COFFER_BASE_URL",
    ["https://a", "http://a:1/x"],
    ["a.example", "ftp://a", "https://u@a", "https://a?x", "https://a,"],
  ],
  ["COFFER_POSTGRES_URL", ["postgres://u:p@h/db", "postgresql://h"], ["mysql://h", "h:5432", "postgres:"]],
  [
    "COFFER_REDIS_URL",
    [
      "redis://h:6379/0",
      "rediss://h",
      "none",
      "redis-sentinel://u:p@a:1,b,[::1]:2/name",
      "rediss-sentinel://a/name?sentinel_password=p%2F",
      "redis-cluster://u:p@a:1,b,[::1]:2",
      "rediss-cluster://a/",
    ],
    [
      ...["http://h", "h:6379", "None"],
      ...["redis-sentinel://a:1", "redis-sentinel://u@a/name", "redis-sentinel://u:%z@a/name"],
      ...[
        "redis-cluster://",
        "redis-cluster://a,",
        "redis-cluster://u@a",
        "redis-cluster://u:%z@a",
        "redis-cluster://a/0",
      ],
    ],
  ],
  ["COFFER_REPLICAS", ["1", "10000"], ["0", "10001"]],
  ["COFFER_DRAIN_SECONDS", ["0", "3600"], ["3601", "-1"]],
  ["COFFER_PROCESSES", ["one", "separate"], ["many", "One"]],
  [
    "COFFER_TRUSTED_PROXY_CIDRS",
    ["10.0.0.0/0", "10.0.0.0/32", "::/128"],
    ["10.0.0.0/33", "::/129", "10.0.0/8", "10.0.0.0/", "10.0.0.0/8/8", "fe80::1%eth0", "example", ",", "10.0.0.0/8,"],
  ],
  ["COFFER_SIEM_ALLOWED_CIDRS", ["192.168.0.0/16"], ["192.168"]],
  [
    "COFFER_SIEM_KEYS",
    [`${"A".repeat(43)},${"_".repeat(42)}8`],
    ["A", "A".repeat(44), "+".repeat(43), `${"A".repeat(42)}B`, `${"A".repeat(43)},x`],
  ],
  ["COFFER_LIMIT_STRICT", ["1", "1000000"], ["0", "1000001"]],
  ["COFFER_LIMIT_STANDARD", ["1"], ["0"]],
  ["COFFER_LIMIT_USER", ["1"], ["0"]],
  ["COFFER_LIMIT_SOCKETS_SESSION", ["1"], ["0"]],
  ["COFFER_LIMIT_SOCKETS_USER", ["1"], ["0"]],
  ["COFFER_ACCESS_TOKEN_SECONDS", ["1", "86400"], ["0", "86401"]],
  ["COFFER_SIGNUPS", ["open", "invite", "closed"], ["yes"]],
  ["COFFER_STRIPE_WEBHOOK_SECRETS", ["whsec_a"], ["whsec_a,", "whsec_a\u0007"]],
  ["COFFER_STRIPE_PRICES", ["{}"], ['{"p":"gold"}', "[]", "null", "{", '"x"', '{"p":["team"]}']],
  ["COFFER_BILLING", ["off", "stripe"], ["on", "Stripe", "paddle"]],
  ["COFFER_SYNC_ALLOWED_ORIGINS", ["https://app.example"], ["https://app.example/x", "*", "null", "app.example"]],
  ["COFFER_LOG_LEVEL", ["trace", "silent"], ["verbose", "INFO"]],
  ["OTEL_EXPORTER_OTLP_ENDPOINT", ["http://collector:4318"], ["collector:4318"]],
  ["COFFER_ROUTER_SECRET", ["s".repeat(16)], ["s".repeat(15)]],
];

for (const [name, accepted, refused] of edges)
  void t.test(`${name} accepts what it should, and nothing beyond`, (t) => {
    for (const text of accepted) t.same(problemsOf({ [name]: text }, [name]), [], `accepts ${text}`);
    for (const text of refused) {
      const problems = problemsOf({ [name]: text }, [name]);
      t.equal(problems.length, 1, `refuses ${text}`);
      t.match(problems[0], new RegExp(`^${name} must `));
    }
    t.end();
  });

void t.test("an address of NATS holds no credentials", (t) => {
  const credentials = { COFFER_NATS_CREDENTIALS: '{"vaults":"p"}' };
  t.same(problemsOf({ ...credentials, COFFER_NATS_URL: "tls://h:4222" }), []);
  t.match(problemsOf({ ...credentials, COFFER_NATS_URL: "nats://u:p@h:4222" }), [
    /COFFER_NATS_URL must not hold credentials/,
  ]);
  t.match(problemsOf({ ...credentials, COFFER_NATS_URL: "nats://h:4222,http://h" }), [/COFFER_NATS_URL must be a URL/]);
  t.end();
});

void t.test("credentials of the bus that are not usable are refused", (t) => {
  for (const text of ["x", "[]", '{"nobody":"p"}', '{"vaults":""}', '{"vaults":{"user":"u"}}', '{"vaults":7}'])
    t.match(
      problemsOf({ COFFER_NATS_URL: "nats://h", COFFER_NATS_CREDENTIALS: text }),
      [/^COFFER_NATS_CREDENTIALS must /],
      text,
    );
  t.end();
});
