export { TuntasError, isTuntasError } from "./core/error.ts";
