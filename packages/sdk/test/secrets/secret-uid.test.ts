import { readFile } from "node:fs/promises";
import t from "tap";
import { freeUid } from "../../src/secrets/secret-uid.ts";
import { newFolder } from "../server/machine.ts";

interface Vector {
  name: string;
  folder_key: string;
  folder_id: string;
  title: string;
  taken: string[];
  uid: string;
}

const file = new URL("../../../../docs/spec/vectors/secret-uid.json", import.meta.url);
const { vectors } = JSON.parse(await readFile(file, "utf8")) as { vectors: Vector[] };

void t.test("a new secret has the uid of the published vectors", async (t) => {
  t.ok(vectors.length > 4);
  for (const { name, folder_key, folder_id, title, taken, uid } of vectors) {
    const key = new Uint8Array(Buffer.from(folder_key, "hex"));
    t.equal(await freeUid({ ...newFolder("a"), id: folder_id, key }, title, new Set(taken)), uid, name);
  }
});
