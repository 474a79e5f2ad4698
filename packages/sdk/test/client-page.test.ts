import { readFile } from "node:fs/promises";
import { extendAll } from "@coffer/history";
import t from "tap";
import type { ExampleFile } from "../../crypto/test/vectors/shapes.ts";
import { parseConfiguration } from "../src/machines/machine-configuration.ts";

// docs/client.md shows a configuration that is made of the published vectors' keys.

const documents = new URL("../../../docs/", import.meta.url);
const page = await readFile(new URL("client.md", documents), "utf8");
const vectors = async (name: string): Promise<Record<string, unknown>> =>
  JSON.parse(await readFile(new URL(`spec/vectors/${name}.json`, documents), "utf8")) as Record<string, unknown>;

void t.test("the configuration on the page is one that the SDK reads, with the vectors' keys", async (t) => {
  const [, example = ""] = /```json\n(.*?)```/s.exec(page) ?? [];
  const configuration = parseConfiguration(example);
  const machine = await vectors("machine-token");
  const { client_id, public_key, private_key, audiences } = machine as Record<string, string>;
  t.match(configuration, { client_id, public_key, private_key, url: audiences?.[0] });
  const { ids, histories } = (await vectors("example")) as unknown as ExampleFile;
  const res = `folder:${ids["folder"] ?? ""}` as const;
  const { state } = await extendAll(null, res, histories[res] ?? []);
  t.strictSame(configuration.histories?.resources[res]?.pin, state.head);
  t.match(configuration, { application_id: ids["application"], org_id: ids["organization"] });
  const [folder] = (await vectors("secret-uid"))["vectors"] as { folder_id: string; folder_key: string }[];
  t.match(configuration.folders, [{ id: folder?.folder_id }]);
  t.equal(Buffer.from(configuration.folders[0]?.key ?? "", "base64").toString("hex"), folder?.folder_key);
});
