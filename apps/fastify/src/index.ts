// `tuntas/fastify`: what an HTTP service in front of Tuntas should always have. Register it before the routes.
export {
  httpErrors,
  type Idempotency,
  type PersonHeaders,
  type RequestTx,
  type TuntasHttpOptions,
} from "./contract.ts";
export { listenAt, type ListenAt, type Listening } from "./listen.ts";
export { tuntasHttp } from "./plugin.ts";
