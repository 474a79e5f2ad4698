// A file of its own, which the worker loads with the first import or export.
export { importContents } from "@coffer/import/import-content";
export { ImportError } from "@coffer/import/import-error";
export { readImport } from "@coffer/import/read";
export { writeExport } from "@coffer/import/write";
