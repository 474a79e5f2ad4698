// What the Jobs of backups do besides pg_dump and pg_restore. A backup is a folder with one dump of each schema and a
// manifest; the folder gets its name when it is whole.
//   backup.mjs begin FOLDER NAME            makes the place of the dumps
//   backup.mjs finish FOLDER NAME KEEP SCHEMA…   checks them, names the backup, and removes all but the newest KEEP
//   backup.mjs choose FOLDER WORK [BACKUP]  checks the newest backup, or the one named, and leads WORK/backup to it
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { join, resolve } from "node:path";
import process from "node:process";

const format = 1;
const wholeName = /^coffer-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ$/;
/** A run that was cut off longer ago than this leaves nothing that another run still writes. */
const abandonedMilliseconds = 24 * 3_600_000;

const commands = {
  begin(folder, name) {
    const place = partial(folder, name);
    fs.rmSync(place, { recursive: true, force: true });
    fs.mkdirSync(place, { mode: 0o700 });
    // Everything that was committed before this moment is in the dumps.
    writeJson(join(place, "begun.json"), { created_at: new Date().toISOString() });
  },

  finish(folder, name, keep, ...schemas) {
    const place = partial(folder, name);
    const { created_at: createdAt } = readJson(join(place, "begun.json"));
    const entries = schemas.map((schema) => {
      const file = `${schema}.dump`;
      const { bytes, sha256 } = digest(join(place, file));
      if (bytes === 0) throw new Error(`the dump of ${schema} is empty`);
      return [schema, { file, bytes, sha256 }];
    });
    writeJson(join(place, "manifest.json"), {
      coffer_dumps: format,
      created_at: createdAt,
      ended_at: new Date().toISOString(),
      schemas: Object.fromEntries(entries),
    });
    fs.rmSync(join(place, "begun.json"));
    const whole = `coffer-${createdAt.slice(0, 19).replaceAll(":", "-")}Z`;
    fs.renameSync(place, join(folder, whole));
    sync(folder);
    const bytes = entries.reduce((sum, [, entry]) => sum + entry.bytes, 0);
    process.stdout.write(`${whole}: ${schemas.length} schemas, ${bytes} bytes\n`);
    for (const old of wholeBackups(folder).slice(0, -Number(keep))) {
      fs.rmSync(join(folder, old), { recursive: true });
      process.stdout.write(`${old} is removed: backup.keep is ${keep}\n`);
    }
    for (const other of fs.readdirSync(folder).filter((each) => each.startsWith(".partial-"))) {
      if (Date.now() - fs.statSync(join(folder, other)).mtimeMs > abandonedMilliseconds)
        fs.rmSync(join(folder, other), { recursive: true });
    }
  },

  choose(folder, work, named = "") {
    const startedAt = new Date().toISOString();
    const present = wholeBackups(folder);
    const chosen = named === "" ? present.at(-1) : present.find((each) => each === named);
    if (chosen === undefined)
      throw new Error(
        named === "" ? `${folder} has no backup` : `${folder} has no backup ${named}; it has ${present.join(", ")}`,
      );
    const manifest = readJson(join(folder, chosen, "manifest.json"));
    if (manifest.coffer_dumps !== format)
      throw new Error(`${chosen} was made by another version of the chart: its format is ${manifest.coffer_dumps}`);
    for (const [schema, { file, bytes, sha256 }] of Object.entries(manifest.schemas)) {
      const found = digest(join(folder, chosen, file));
      if (found.bytes !== bytes || found.sha256 !== sha256)
        throw new Error(`${chosen}: the dump of ${schema} is not what was written: take another backup`);
    }
    fs.rmSync(join(work, "backup"), { force: true });
    fs.symlinkSync(resolve(folder, chosen), join(work, "backup"));
    writeJson(join(work, "drill.json"), { ...manifest, name: chosen, started_at: startedAt });
    process.stdout.write(`${chosen}, of ${manifest.created_at}\n`);
  },
};

function partial(folder, name) {
  return join(folder, `.partial-${name}`);
}

/** The names of the backups that are whole, the oldest first. */
function wholeBackups(folder) {
  return fs
    .readdirSync(folder)
    .filter((each) => wholeName.test(each) && fs.existsSync(join(folder, each, "manifest.json")))
    .sort();
}

/** Size and SHA-256 of a file, which is on the disk afterwards. */
function digest(path) {
  const file = fs.openSync(path, "r");
  try {
    const hash = createHash("sha256");
    const buffer = Buffer.alloc(1 << 20);
    let bytes = 0;
    for (let size; (size = fs.readSync(file, buffer)) > 0; bytes += size) hash.update(buffer.subarray(0, size));
    fs.fsyncSync(file);
    return { bytes, sha256: hash.digest("hex") };
  } finally {
    fs.closeSync(file);
  }
}

function readJson(path) {
  return JSON.parse(fs.readFileSync(path, "utf8"));
}

function writeJson(path, value) {
  fs.writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flush: true });
}

function sync(folder) {
  const opened = fs.openSync(folder, "r");
  fs.fsyncSync(opened);
  fs.closeSync(opened);
}

const [command = "", ...args] = process.argv.slice(2);
try {
  if (!Object.hasOwn(commands, command))
    throw new Error(`no command "${command}": ${Object.keys(commands).join(", ")}`);
  commands[command](...args);
} catch (error) {
  process.stderr.write(`backup: ${error.message}\n`);
  process.exitCode = 1;
}
