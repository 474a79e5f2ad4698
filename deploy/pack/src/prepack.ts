// Run by npm before it packs the checkout: compiles the packages that others install, and puts the manifest in place
// that makes one package of them. postpack.ts makes all that undone.
import { join, resolve } from "node:path";
import { compile } from "./compile.ts";
import { joinPackages, onePackage, packages } from "./one-package.ts";
import { replaceManifest, restoreCheckout } from "./package-folder.ts";

const checkout = resolve(import.meta.dirname, "../../..");
restoreCheckout(checkout, packages);
try {
  for (const name of packages) compile(join(checkout, "packages", name));
  joinPackages(checkout);
  replaceManifest(checkout, onePackage(checkout));
} catch (error) {
  restoreCheckout(checkout, packages);
  throw error;
}
