// The door of `@tuntas/aws`.
export { sqs, type SqsOptions } from "./service.ts";
