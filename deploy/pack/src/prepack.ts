// Run by npm before it packs the checkout: compiles the packages, and installs the manifest of the one
// package. postpack.ts undoes it.
import { join, resolve } from "node:path";
import { addConsoleManifest } from "./console-manifest.ts";
import { compile } from "./compile.ts";
import { joinPackages, onePackage, packages } from "./one-package.ts";
import { replaceManifest, restoreCheckout } from "./package-folder.ts";

const checkout = resolve(import.meta.dirname, "../../..");
restoreCheckout(checkout, packages);
try {
  for (const name of packages) compile(join(checkout, "packages", name));
  joinPackages(checkout);
  await addConsoleManifest(checkout);
  replaceManifest(checkout, onePackage(checkout));
} catch (error) {
  restoreCheckout(checkout, packages);
  throw error;
}
