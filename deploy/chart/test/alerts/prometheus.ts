import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, openSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort, locateTool, tiedToThisProcess } from "@coffer/stores";
import { type TestScope, testDirectory, until } from "@coffer/testkit";
import { stringify } from "yaml";

/** An alert that is pending or firing. */
export interface ActiveAlert {
  name: string;
  state: "pending" | "firing";
  labels: Readonly<Record<string, string>>;
  summary: string;
}

/** A Prometheus of this run. */
export interface Prometheus {
  url: string;
  /** Scrapes these addresses (`host:port`) from now on, and no others. */
  scrape(addresses: readonly string[]): void;
  active(): Promise<ActiveAlert[]>;
  /** The value of each series of an expression. */
  query(expression: string): Promise<{ labels: Record<string, string>; value: number }[]>;
}

/** Starts it with these rules. It scrapes every other second: a gauge may take one. */
export async function startPrometheus(
  t: TestScope,
  rules: string,
  report: (line: string) => void,
): Promise<Prometheus> {
  const directory = testDirectory(t);
  const at = (name: string): string => join(directory, name);
  const targets = at("targets.json");
  writeFileSync(targets, "[]");
  writeFileSync(at("rules.yaml"), rules);
  const every = { scrape_interval: "2s", evaluation_interval: "1s", scrape_timeout: "2s" };
  const job = { job_name: "coffer", file_sd_configs: [{ files: [targets], refresh_interval: "1s" }] };
  writeFileSync(at("prometheus.yaml"), stringify({ global: every, rule_files: ["rules.yaml"], scrape_configs: [job] }));

  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const [program = "", ...args] = tiedToThisProcess(
    [
      ...(await locateTool("prometheus", { report })),
      `--config.file=${at("prometheus.yaml")}`,
      `--storage.tsdb.path=${at("data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    "SIGKILL",
  );
  const log = openSync(at("log"), "a");
  const child: ChildProcess = spawn(program, args, { cwd: directory, stdio: ["ignore", log, log] });
  const ended = once(child, "exit");
  t.teardown(async () => {
    child.kill("SIGTERM");
    await ended;
  });
  const isReady = (): Promise<boolean> =>
    fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  await until(
    "Prometheus is ready",
    async () => {
      if (child.exitCode !== null) throw new Error(`Prometheus ended: see ${at("log")}`);
      return isReady();
    },
    60,
  );

  async function read<Data>(path: string): Promise<Data> {
    const answer = await fetch(`${url}/api/v1/${path}`);
    const { data, error } = (await answer.json()) as { data?: Data; error?: string };
    if (data === undefined) throw new Error(`Prometheus: ${error ?? answer.statusText}`);
    return data;
  }
  return {
    url,
    scrape(addresses) {
      // Replaced as a whole: Prometheus may read at any time.
      const fresh = `${targets}.new`;
      writeFileSync(fresh, JSON.stringify([{ targets: addresses }]));
      renameSync(fresh, targets);
      if (!existsSync(targets)) throw new Error("the targets cannot be written");
    },
    async active() {
      interface Alert {
        labels: Record<string, string>;
        annotations: Record<string, string>;
        state: "pending" | "firing";
      }
      const { alerts } = await read<{ alerts: Alert[] }>("alerts");
      return alerts.map(({ labels, annotations, state }) => ({
        name: labels["alertname"] ?? "",
        state,
        labels,
        summary: annotations["summary"] ?? "",
      }));
    },
    async query(expression) {
      interface Series {
        metric: Record<string, string>;
        value: [number, string];
      }
      const { result } = await read<{ result: Series[] }>(`query?query=${encodeURIComponent(expression)}`);
      return result.map(({ metric, value }) => ({ labels: metric, value: Number(value[1]) }));
    },
  };
}
