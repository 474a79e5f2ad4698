// Run by npm after it packed the checkout.
import { resolve } from "node:path";
import { packages } from "./one-package.ts";
import { restoreCheckout } from "./package-folder.ts";

restoreCheckout(resolve(import.meta.dirname, "../../.."), packages);
