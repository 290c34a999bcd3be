// What the server, the protocols and the services say to each other: a call that came in, an error that goes out.
import type { Log } from "tuntas";
import type { Queues, Scope } from "tuntas/queue";
import type { Schedules } from "tuntas/schedule";
import type { Workflows } from "tuntas/workflow";
import type { Structure } from "./shape.ts";

export type Protocol = "json" | "query" | "rest";

/** One AWS error: its shape in the JSON protocol, its code in the Query protocol, its HTTP status. */
export interface ErrorKind {
  readonly shape: string;
  readonly queryCode: string;
  readonly status: number;
  /** Where the shape is defined; generic ones belong to the protocol. */
  readonly namespace: string;
  /** The text in the Query protocol, where it differs. */
  readonly queryMessage?: string;
}

/** An error as the client is told it. Thrown by whoever finds the fault, rendered by the protocol. */
export class WireError extends Error {
  override readonly name = "WireError";
  readonly kind: ErrorKind;

  constructor(kind: ErrorKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

export const genericNamespace = "com.amazon.coral.service";

const generic = (shape: string, status: number, queryCode = shape): ErrorKind => ({
  shape,
  queryCode,
  status,
  namespace: genericNamespace,
});

/** Errors of every service (AWS, Common Errors). */
export const genericErrors = {
  accessDenied: generic("AccessDeniedException", 403, "AccessDenied"),
  incompleteSignature: generic("IncompleteSignatureException", 403, "IncompleteSignature"),
  missingToken: generic("MissingAuthenticationTokenException", 403, "MissingAuthenticationToken"),
  unknownKey: generic("UnrecognizedClientException", 403, "InvalidClientTokenId"),
  wrongSignature: generic("InvalidSignatureException", 403, "SignatureDoesNotMatch"),
  internal: generic("InternalFailure", 500),
  invalidAction: generic("UnknownOperationException", 400, "InvalidAction"),
  malformedRequest: generic("MalformedHttpRequestException", 400, "InvalidHttpRequest"),
  serialization: generic("SerializationException", 400, "MalformedInput"),
  timeout: generic("RequestTimeoutException", 408, "RequestTimeout"),
  tooLarge: generic("RequestEntityTooLargeException", 413, "RequestEntityTooLarge"),
  unavailable: generic("ServiceUnavailable", 503),
  unknownOperation: generic("UnknownOperationException", 404),
} as const;

/** One request to one operation, without its input. */
export interface Call {
  readonly protocol: Protocol;
  readonly operation: string;
  /** The account and region of the caller. */
  readonly scope: Scope;
  /** Where the client found this server: `http://HOST`, for the URLs in answers. */
  readonly origin: string;
  /** The path of the request; a queue's own path names the queue. */
  readonly path: string;
  readonly traceHeader: string | undefined;
  /** Aborts when the client has gone or the server ends; whoever waits for long waits with it. */
  waiting(): AbortSignal;
  /** Called if the answer cannot be delivered. */
  onUndelivered(undo: () => void): void;
}

/** Where a service that is REST has an operation: `{Name}` in the path is a member of its input. */
export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: string;
  /** Members that travel in the query, by their names there. */
  readonly query?: Readonly<Record<string, string>>;
}

export interface Operation {
  readonly input: Structure;
  readonly route?: Route;
  /** Undefined where the operation answers nothing, or has no Query protocol to say it in. */
  readonly output: Structure | undefined;
  /** The input is of the operation's shape: the protocol has checked it. */
  readonly run: (call: Call, input: Record<string, unknown>) => Promise<object | void>;
}

/** A queue, machine, activity or schedule that a request names, and the account it is of where the request says so. */
export interface Subject {
  readonly name: string;
  readonly account?: string | undefined;
}

/** One AWS service and its operations. */
export interface Service {
  /** What stands before the dot of X-Amz-Target; undefined for one that is REST, whose operations have routes. */
  readonly targetPrefix?: string;
  /** What it is called in the scopes of keys. */
  readonly prefix: "sqs" | "states" | "scheduler";
  readonly operations: ReadonlyMap<string, Operation>;
  /** All that a request to this path names; none for one that names nothing, such as a list. */
  readonly subjectsOf: (
    operation: Operation,
    input: Readonly<Record<string, unknown>>,
    path: string,
  ) => readonly Subject[];
  /** Whether requests to this path are the service's, beside those to the root. */
  readonly ownsPath: (path: string) => boolean;
  /** Operations that the Query protocol does not offer on such a path. */
  readonly rootOnly: ReadonlySet<string>;
  /** The XML namespace of its Query protocol; undefined where it has none. */
  readonly queryNamespace?: string;
  /** Says a cause in the service's own errors. */
  readonly toWireError: (cause: unknown) => WireError | undefined;
}

/** What services are made of. */
export interface Rooms {
  readonly queues: Queues;
  readonly workflows: Workflows;
  readonly schedules: Schedules;
  readonly log: Pick<Log, "warn" | "error">;
}
