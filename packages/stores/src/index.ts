export { type Store, StoreError } from "./store.ts";
export { type PostgresOptions, startPostgres, withoutDurability } from "./postgres.ts";
export { type ImageOptions, locatePostgresTools, type PostgresTools, startPostgresImage } from "./postgres-tools.ts";
export { type NatsOptions, type NatsServer, startNats } from "./nats.ts";
export { type RedisOptions, startRedis } from "./redis.ts";
export {
  locate,
  type LocateOptions,
  locateTool,
  type NeededProgram,
  requireServers,
  type ServerProgram,
} from "./locate.ts";
export { endServersIn, isAlive, serversIn, startOf } from "./processes.ts";
export { type Unpacked, unpackedCommand, unpackWithApt } from "./apt.ts";
export { freePort } from "./free-port.ts";
export { isReachable, type ServerUser, serverUser } from "./server-user.ts";
export { letServerEnter, temporaryDirectory } from "./store-directory.ts";
export { tiedToThisProcess } from "./tied.ts";
export { CopyRefused, type DatabaseItem, readDatabase, writeDatabase } from "./copy-database.ts";
export { prepareDatabase, type PreparedDatabase, type PrepareOptions, type SchemaOwner } from "./prepare-database.ts";
