export { loadConfiguration, saveConfiguration } from "./configuration-file.ts";
export { makePrivateDirectory, writePrivateFile } from "./private-file.ts";
