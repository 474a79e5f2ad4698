export { orConflict } from "@coffer/postgres";
