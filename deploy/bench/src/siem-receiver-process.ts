import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

// Takes every batch of an event collector, and says how many records it has had when it is asked.

let records = 0;
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const body = Buffer.concat(chunks);
    for (let at = body.indexOf(10); at !== -1; at = body.indexOf(10, at + 1)) records += 1;
    records += 1;
    response.writeHead(200, { "content-type": "application/json" });
    response.end('{"text":"Success","code":0}');
  });
});
process.on("message", () => process.send?.({ records }));
process.once("disconnect", () => process.exit(0));
server.listen(0, "127.0.0.1", () => {
  process.send?.({ port: (server.address() as AddressInfo).port }); // a TCP port, not a pipe
});
