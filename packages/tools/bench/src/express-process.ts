import type { AddressInfo } from "node:net";
import express from "express";

// The baseline: a bare Express 5 route that answers the bytes it was given.
process.once("message", (body) => {
  const bytes = Buffer.from(body as string);
  const app = express();
  app.get("/", (_request, response) => {
    response.setHeader("Content-Type", "application/json; charset=utf-8");
    response.end(bytes);
  });
  const server = app.listen(0, "127.0.0.1", () => {
    process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  });
});
process.on("disconnect", () => process.exit(0));
