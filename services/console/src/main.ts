import { runService } from "@coffer/service/stateless";
import { readConfig } from "./config.ts";
import { createService } from "./service.ts";

await runService({ name: "console", readConfig, createService });
