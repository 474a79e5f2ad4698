import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { checkout, dependencyFolders } from "../../../pack/src/stage-checkout.ts";
import { nodeLicenses, nodeVersion } from "./node-package.ts";

const licenseFile = /^(licen[cs]e|notice|copyrightnotice)(\.(md|txt))?$/i;

/**
 * The licences of everything in an executable: Coffer, Node, and the packages that the command depends on.
 * Those of Node may be
 * an address, unless they are `complete`.
 */
export function licenseTexts({ complete }: { complete: boolean }): string {
  return [
    section("Coffer", [readFileSync(join(checkout, "LICENSE"), "utf8")]),
    section(`Node.js ${nodeVersion()}`, [nodeLicenses(complete)]),
    ...dependencyFolders().sort().map(licensesOf),
  ].join("\n");
}

function licensesOf(folder: string): string {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Record<string, string>; // npm's
  const { name = "", version = "", license = "" } = manifest;
  const files = readdirSync(folder).filter((each) => licenseFile.test(each));
  if (files.length === 0 && license === "") throw new Error(`${folder} has no licence: the command cannot contain it`);
  return section(
    `${name} ${version} (${license})`,
    files.sort().map((each) => readFileSync(join(folder, each), "utf8")),
  );
}

function section(title: string, texts: readonly string[]): string {
  const line = "=".repeat(80);
  return `${line}\n${title}\n${line}\n${texts.map((text) => `\n${text.replaceAll("\r\n", "\n").trim()}\n`).join("")}`;
}
