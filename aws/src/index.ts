// The door of `@tuntas/aws`.
export { sqs, type SqsOptions } from "./service.ts";
export { s3Files } from "./files.ts";
export { stepFunctions, type StepFunctionsOptions } from "./machines.ts";
