import { randomBytes } from "node:crypto";
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { type Finding, fine, problem, warning } from "./finding.ts";
import { noAnswer } from "./request.ts";

const check = "live sync";
const timeoutMilliseconds = 10_000;
const pass = "let the proxy pass the headers Upgrade and Connection on for /api/sync/ws, over HTTP/1.1";

/** Requests the WebSocket without a token: 401 shows that the request arrives unchanged. */
export async function checkSync(url: string): Promise<Finding> {
  let status: number;
  try {
    status = await requestUpgrade(`${url}/api/sync/ws`);
  } catch (error) {
    return problem(check, `the WebSocket at /api/sync/ws cannot be reached: ${noAnswer(error).message}`, pass);
  }
  if (status === 401) return fine(check, "WebSocket upgrades get through");
  if (status === 404) return warning(check, "there is no live sync here", `if the service sync is deployed, ${pass}`);
  if (status === 429) return warning(check, "not checked: the rate limit is exhausted", "try again in a minute");
  if (status >= 500)
    return problem(check, `live sync answers ${status}`, "the service sync is away: look at its log and readiness");
  return problem(check, `an upgrade without a token is answered ${status}, not 401`, pass);
}

function requestUpgrade(url: string): Promise<number> {
  const start = url.startsWith("https:") ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const request = start(url, {
      headers: {
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": randomBytes(16).toString("base64"),
      },
      signal: AbortSignal.timeout(timeoutMilliseconds),
    });
    request.once("response", (response) => {
      resolve(response.statusCode ?? 0);
      response.destroy();
    });
    request.once("upgrade", (response, socket) => {
      resolve(response.statusCode ?? 101);
      socket.destroy();
    });
    request.once("error", reject);
    request.end();
  });
}
