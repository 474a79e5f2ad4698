import { createHash } from "node:crypto";

/** A Lua script and its SHA-1, by which Redis caches it. */
export interface Script {
  readonly source: string;
  readonly sha: string;
}

function script(source: string): Script {
  return { source, sha: createHash("sha1").update(source).digest("hex") };
}

// The time in microseconds: of the caller, or of Redis, so that all replicas use one clock. Numbers
// are formatted with %.0f because Lua rounds to 14 digits.
const clock = `
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end
`;

/**
 * KEYS[1]: the list of the newest acceptance times of one bucket and address, newest first. ARGV:
 * the time in microseconds or "" for Redis's own; the limit; the window in microseconds. Returns {1
 * when accepted else 0, how many more fit now, microseconds until one more fits}.
 *
 * After the clock was set back, time continues from the newest entry. Entries more than a window
 * ahead come from a wrong clock and are dropped.
 */
export const takeScript = script(`${clock}
local key, limit, window = KEYS[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local newest = tonumber(redis.call('LINDEX', key, 0) or 0)
if newest > now then
  if newest > now + window then redis.call('DEL', key) else now = newest end
end
local oldest = tonumber(redis.call('LINDEX', key, -1) or now)
while now - oldest >= window do
  redis.call('RPOP', key)
  oldest = tonumber(redis.call('LINDEX', key, -1) or now)
end
local count = redis.call('LLEN', key)
if count >= limit then
  return {0, 0, tonumber(redis.call('LINDEX', key, limit - 1)) + window - now}
end
redis.call('LPUSH', key, string.format('%.0f', now))
redis.call('PEXPIRE', key, math.ceil(window / 1000) + 1000)
return {1, limit - count - 1, oldest + window - now}
`);

/**
 * KEYS[1]: the run id of the server, and since when its data is complete. ARGV: the time in
 * microseconds or "" for Redis's own. Returns for how many microseconds the data is complete; 0 if
 * the store was empty, or its server was restarted and may have lost writes.
 */
export const ageScript = script(`${clock}
local info = redis.pcall('INFO', 'server')
local run = type(info) == 'string' and string.match(info, 'run_id:(%w+)') or '-'
local known, since = string.match(redis.call('GET', KEYS[1]) or '', '^(%S+) (%d+)$')
since = tonumber(since)
if known ~= run or not since or since > now then
  redis.call('SET', KEYS[1], string.format('%s %.0f', run, now))
  return 0
end
return now - since
`);
