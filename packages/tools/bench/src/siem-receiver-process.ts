import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

// Accepts every batch of an event collector. A message with a number of records is answered with the
// number of accepted records, once there are that many.

let records = 0;
let awaited: number | undefined;

function report(): void {
  if (awaited === undefined || records < awaited) return;
  awaited = undefined;
  process.send?.({ records });
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const body = Buffer.concat(chunks);
    for (let at = body.indexOf(10); at !== -1; at = body.indexOf(10, at + 1)) records += 1;
    records += 1;
    report();
    response.writeHead(200, { "content-type": "application/json" });
    response.end('{"text":"Success","code":0}');
  });
});
process.on("message", (number: number) => {
  awaited = number;
  report();
});
process.once("disconnect", () => process.exit(0));
server.listen(0, "127.0.0.1", () => {
  process.send?.({ port: (server.address() as AddressInfo).port }); // a TCP port, not a pipe
});
