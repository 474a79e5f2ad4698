export { ServiceError } from "./service-error.ts";
export type { ErrorDetail, ServiceErrorOptions } from "./service-error.ts";
export { errorCodes, isErrorCode, statusOf } from "./codes.ts";
export type { ErrorCode } from "./codes.ts";
