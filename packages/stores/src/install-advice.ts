import { onPath } from "./on-path.ts";

/** The parts that can be missing on a machine. */
export type Missing = "nats-server" | "redis-server" | "postgres" | "setpriv";

interface System {
  /** The program that installs packages here, which identifies the system. */
  manager: string;
  install: string;
  packages: Readonly<Record<Missing, string>>;
}

const systems: readonly System[] = [
  {
    manager: "apk",
    install: "apk add",
    packages: { "nats-server": "nats-server", "redis-server": "valkey", postgres: "postgresql18", setpriv: "setpriv" },
  },
  {
    manager: "dnf",
    install: "dnf install",
    packages: {
      "nats-server": "nats-server",
      "redis-server": "valkey",
      postgres: "postgresql18-server",
      setpriv: "util-linux",
    },
  },
  {
    manager: "pacman",
    install: "pacman -S",
    packages: { "nats-server": "nats-server", "redis-server": "valkey", postgres: "postgresql", setpriv: "util-linux" },
  },
  {
    manager: "brew",
    install: "brew install",
    packages: {
      "nats-server": "nats-server",
      "redis-server": "redis",
      postgres: "postgresql@18",
      setpriv: "util-linux",
    },
  },
  {
    manager: "apt-get",
    install: "apt-get install",
    packages: {
      "nats-server": "nats-server",
      "redis-server": "redis-server",
      postgres: "postgresql-18",
      setpriv: "util-linux",
    },
  },
];

const names: Readonly<Record<Missing, string>> = {
  "nats-server": "nats-server",
  "redis-server": "redis-server",
  postgres: "Postgres 18",
  setpriv: "setpriv",
};

/** The alternative to an installation. */
const instead: Readonly<Record<Missing, string>> = {
  "nats-server": "set COFFER_NATS_URL and COFFER_NATS_CREDENTIALS",
  "redis-server": "set COFFER_REDIS_URL",
  postgres: "set COFFER_POSTGRES_URL",
  setpriv: "start as another user than root",
};

/** One line with all missing parts, the command that installs them here, and the alternative. */
export function installAdvice(missing: readonly Missing[], problems: readonly string[]): string {
  const list = missing.map((each) => names[each]);
  const are = missing.length === 1 ? "is needed and was not found" : "are needed and were not found";
  const system = systems.find(({ manager }) => onPath(manager) !== null);
  const command =
    system === undefined
      ? "install what is missing"
      : `run ${system.install} ${missing.map((each) => system.packages[each]).join(" ")}`;
  const others = missing.map((each) => instead[each]).join("; ");
  const reasons = problems.length === 0 ? "" : ` (${[...new Set(problems)].join("; ")})`;
  return `${list.join(", ")} ${are}: ${command}. Or ${others}${reasons}`;
}
