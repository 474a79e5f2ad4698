import { runService } from "@coffer/service";
import { readConfig } from "./config.ts";
import { createService } from "./service.ts";

await runService({ name: "billing-webhook", readConfig, createService });
