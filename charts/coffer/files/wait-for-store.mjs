// Waits until something listens at an address: wait-for-store.mjs HOST PORT SECONDS
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

const [host, port, seconds] = process.argv.slice(2);
const deadline = Date.now() + Number(seconds) * 1000;

function answers() {
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port), timeout: 2_000 });
    const end = (found) => {
      socket.destroy();
      resolve(found);
    };
    socket.once("connect", () => end(true));
    socket.once("timeout", () => end(false));
    socket.once("error", () => end(false));
  });
}

while (!(await answers())) {
  if (Date.now() > deadline) {
    process.stderr.write(`nothing listens at ${host}:${port} after ${seconds} s\n`);
    process.exit(1);
  }
  await pause(500);
}
