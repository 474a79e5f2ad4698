export { loadConfiguration, saveConfiguration } from "./configuration-file.ts";
export { fileStorage } from "./file-storage.ts";
export { makePrivateDirectory, writePrivateFile } from "./private-file.ts";
