export { type ErrorDetail, ServiceError, type ServiceErrorOptions } from "./service-error.ts";
