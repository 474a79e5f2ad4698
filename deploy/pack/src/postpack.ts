// Run by npm after it packed a package, in that package's folder.
import { restoreFolder } from "./package-folder.ts";

restoreFolder(process.cwd());
