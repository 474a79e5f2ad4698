import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { testNats } from "@coffer/testkit";
import t from "tap";
import { z } from "zod";

const program = fileURLToPath(new URL("programs/traced.ts", import.meta.url));
const line = z.object({ msg: z.string(), trace_id: z.string().optional(), span_id: z.string().optional() });

void t.test("a trace continues in the responder and in the consumer", async (t) => {
  const { url, credentials } = await testNats(t);
  const parameters = [program, url, credentials["auth-sm"].password, credentials.vaults.password];
  const { stdout } = await promisify(execFile)(process.execPath, parameters, {
    env: { ...process.env, OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9", OTEL_EXPORTER_OTLP_TIMEOUT: "200" },
  });
  const lines = stdout
    .trim()
    .split("\n")
    .map((text) => line.parse(JSON.parse(text)));
  const said = (message: string) => lines.find(({ msg }) => msg === message);
  const [requesting, answering, consuming] = ["requesting", "answering", "consuming"].map(said);
  t.match(requesting?.trace_id, /^[0-9a-f]{32}$/);
  t.equal(answering?.trace_id, requesting?.trace_id);
  t.equal(consuming?.trace_id, requesting?.trace_id);
  t.equal(
    new Set([requesting, answering, consuming].map((found) => found?.span_id)).size,
    3,
    "each in a span of its own",
  );
});
