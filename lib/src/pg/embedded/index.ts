// The door to the embedded PostgreSQL.
export { attachEmbedded } from "./attach.ts";
export { embeddedErrors, type EmbeddedOptions, type EmbeddedServer } from "./contract.ts";
