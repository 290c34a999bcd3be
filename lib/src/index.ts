// The public door of the library.
export { TuntasError, isTuntasError } from "./core/error.ts";
export type { Duration } from "./core/duration.ts";
export { openPlatform } from "./platform.ts";
export type { Platform, PlatformOptions } from "./platform.ts";
export { makeLog } from "./engine/log.ts";
export type { Log } from "./engine/log.ts";
