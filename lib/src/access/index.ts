// `tuntas/access`: who may do what.
export * from "./contract.ts";
export { makeAccess, type Access, type AccessOptions } from "./client.ts";
export type { By, Sessions, Users } from "./users.ts";
export type { KeyRequest, Keys, LiveKey } from "./keys.ts";
export { acts, demand, may, permissions, type Act } from "./state.ts";
export { hide, mask, masked, maskText, pathsOf, pathsOfJsonSchema, type Path } from "./mask.ts";
export { actingFor } from "../engine/handler/tenant.ts";
export {
  isTenantName,
  makeRateGate,
  type RateAnswer,
  type RateGate,
  type RequestRate,
  type RequestRates,
} from "./rate/index.ts";
export { covers, isScope, roleOf } from "./scope.ts";
export {
  endedCookie,
  forgeryOf,
  isLoopback,
  isLoopbackName,
  securityHeaders,
  sessionCookie,
  tokenOf,
} from "./http.ts";
export { makeGuard, statusOf, type Admission, type Guard, type GuardOptions, type Request } from "./guard.ts";
export { csrfOf } from "./secret.ts";
export { readTenantReaders, type Reach, type TenantReader } from "./readers.ts";
