import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import t from "tap";
import { serverUser, startRedis, temporaryDirectory } from "@coffer/stores";
import { removeTestDirectory, testDirectory, type TestScope } from "@coffer/testkit";
import { openInstallation } from "../../src/data/installation.ts";
import { choosePlace, openPlace, removePlaces, removeTree } from "../../src/data/stores-place.ts";

const skip = process.getuid?.() === 0 && process.platform === "linux" ? false : "only root has stores of another user";
const other = 1; // any user that is neither root nor the stores'

/** A folder like /var/lib, and a data directory that only root can reach. */
function folders(t: TestScope): { base: string; data: string } {
  const base = testDirectory(t);
  chmodSync(base, 0o755);
  const home = temporaryDirectory("coffer-test-");
  t.teardown(() => removeTestDirectory(home));
  chmodSync(home, 0o700);
  const data = join(home, "data");
  mkdirSync(data, { mode: 0o700 });
  return { base, data };
}

await t.test("a data directory that the stores' user can reach holds the files of the stores", { skip }, (t) => {
  const { base } = folders(t);
  const data = join(testDirectory(t), "data");
  mkdirSync(data, { mode: 0o700 });
  t.equal(choosePlace(data, base), null);
  t.equal(openPlace(data, null, base), data);
  t.same([lstatSync(data).mode & 0o777, lstatSync(data).gid], [0o710, serverUser()?.gid]);
  t.end();
});

await t.test(
  "for another one there is a place that only root can change and no other user can enter",
  { skip },
  (t) => {
    const { base, data } = folders(t);
    const place = choosePlace(data, base) ?? "";
    t.match(place.slice(base.length), /^\/coffer-[0-9a-f]{16}\/[0-9a-f]{8}$/);
    t.notOk(existsSync(place), "it is made when the stores start");
    t.not(choosePlace(data, base), place, "a new installation gets a new place");
    t.equal(dirname(choosePlace(data, base) ?? ""), dirname(place));
    t.equal(openPlace(data, place, base), place);
    for (const folder of [place, dirname(place)]) {
      const { uid, gid, mode } = lstatSync(folder);
      t.same([uid, gid, mode & 0o777], [0, serverUser()?.gid, 0o710], folder);
    }
    t.equal(openPlace(data, place, base), place, "again");
    t.end();
  },
);

const swaps: Record<string, (place: string, elsewhere: string) => void> = {
  "that another user has made": (place) => {
    mkdirSync(dirname(place));
    chownSync(dirname(place), other, other);
  },
  "that another user can change": (place) => {
    mkdirSync(dirname(place));
    chmodSync(dirname(place), 0o777);
  },
  "that is a link": (place, elsewhere) => symlinkSync(elsewhere, dirname(place)),
  "whose inner folder another user has made": (place) => {
    mkdirSync(place, { recursive: true });
    chownSync(place, other, other);
  },
  "whose inner folder is a link": (place, elsewhere) => {
    mkdirSync(dirname(place));
    symlinkSync(elsewhere, place);
  },
  "below a folder in which every user can make one": (place) => chmodSync(dirname(dirname(place)), 0o777),
};
for (const [what, swap] of Object.entries(swaps))
  await t.test(`a place ${what} is refused, and nothing is written there`, { skip }, async (t) => {
    const { base, data } = folders(t);
    const place = choosePlace(data, base) ?? "";
    const elsewhere = testDirectory(t);
    const before = lstatSync(elsewhere).mode;
    swap(place, elsewhere);
    t.throws(() => openPlace(data, place, base), { name: "StartupError", message: /must be a folder of root's/ });
    t.equal(lstatSync(elsewhere).mode, before);
    t.notOk(existsSync(join(elsewhere, "data-directory")));
    if (existsSync(dirname(place)) && !what.startsWith("whose"))
      await t.rejects(removePlaces(data, place, base), { message: /must be a folder of root's/ });
  });

await t.test("a copy of a data directory does not get the place of the original, a moved one does", { skip }, (t) => {
  const { base, data } = folders(t);
  const place = choosePlace(data, base) ?? "";
  openInstallation(data, place);
  openPlace(data, place, base);
  const copy = folders(t).data;
  openInstallation(copy, place);
  t.throws(() => openPlace(copy, place, base), { name: "StartupError", message: `${copy} is a copy of ${data}` });
  removeTree(data);
  t.equal(openPlace(copy, place, base), place);
  t.end();
});

await t.test("a reset removes the place, ends its stores, and no others", { skip }, async (t) => {
  const { base, data } = folders(t);
  const neighbour = folders(t).data;
  const [place = "", others = ""] = [data, neighbour].map((each) => {
    const chosen = choosePlace(each, base) ?? "";
    openPlace(each, chosen, base);
    return chosen;
  });
  const redis = await startRedis({ directory: join(place, "redis") });
  const gone = new Promise<void>((resolve) => redis.onExit(resolve));
  await removePlaces(data, others, base);
  await gone;
  t.notOk(existsSync(dirname(place)));
  t.equal(readFileSync(join(others, "data-directory"), "utf8"), neighbour, "the installation named another's place");
  writeFileSync(join(data, "file"), "");
  await removePlaces(data, "/", base);
  t.ok(existsSync(join(data, "file")));
});
