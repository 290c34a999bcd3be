// From an HTTP request to a reply: which protocol, which service, which operation; and every fault as a coded error.
import type { IncomingHttpHeaders } from "node:http";
import { isLoopbackName } from "tuntas/access";
import type { Authentication, Caller } from "./authentication.ts";
import { decodeJson, fault, jsonType, renderJson, renderJsonError } from "./protocol/json.ts";
import * as query from "./protocol/query.ts";
import { decodeRest, readPath, renderRestError, restType } from "./protocol/rest.ts";
import type { Call, Operation, Rooms, Route, Service } from "./wire.ts";
import { genericErrors, WireError } from "./wire.ts";

export interface Request {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly requestId: string;
  /** `http://HOST` as the client sees it. */
  readonly origin: string;
}

export interface Reply {
  readonly status: number;
  readonly type: string;
  readonly body: string;
  /** The value of x-amzn-query-error, on errors of the JSON protocol. */
  readonly queryError?: string;
  /** The value of x-amzn-errortype, on errors of REST JSON. */
  readonly errorType?: string;
}

export type Delivery = Pick<Call, "waiting" | "onUndelivered">;

export type Dispatch = (request: Request, delivery: Delivery) => Promise<Reply>;

const pathOf = (url: string): string => {
  const end = url.indexOf("?");
  return end < 0 ? url : url.slice(0, end);
};

const queryOf = (url: string): string => {
  const start = url.indexOf("?");
  return start < 0 ? "" : url.slice(start + 1);
};

/** Browsers send one of these with whatever a page asks for, and SDKs none. */
const isOfPage = (headers: IncomingHttpHeaders): boolean =>
  headers.origin !== undefined ||
  headers.referer !== undefined ||
  headers["sec-fetch-site"] !== undefined ||
  headers["user-agent"]?.startsWith("Mozilla/") === true;

/**
 * Pages of other sites must not drive a server on the developer's own machine, neither by its name nor by one of their
 * own that they had point here (DNS rebinding).
 */
function refuseForeignPage(headers: IncomingHttpHeaders, onlyHere: boolean): void {
  if (!isOfPage(headers)) return;
  const { origin, host, "sec-fetch-site": site } = headers;
  const foreignOrigin = origin !== undefined && origin !== `http://${host}`;
  const foreignName = onlyHere && !isLoopbackName(host);
  if (foreignOrigin || foreignName || site === "cross-site" || site === "same-site") {
    throw new WireError(genericErrors.accessDenied, "Requests from pages of other origins are refused.");
  }
}

const unknownOperation = (): WireError =>
  new WireError(genericErrors.unknownOperation, "The operation or action requested is not known here.");

function firstOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

const traceForm = /^[\x20-\x7e]{1,1024}$/;

/** A request of somebody who is known. */
interface Asked {
  readonly request: Request;
  readonly delivery: Delivery;
  readonly caller: Caller;
}

function makeCall(
  { request, delivery, caller }: Asked,
  { protocol, operation }: Pick<Call, "protocol" | "operation">,
): Call {
  const { headers, url, origin } = request;
  const trace = firstOf(headers["x-amzn-trace-id"]);
  return {
    protocol,
    operation,
    scope: caller.scope,
    origin,
    path: pathOf(url),
    traceHeader: trace !== undefined && traceForm.test(trace) ? trace : undefined,
    ...delivery,
  };
}

const isJson = (type: string | undefined): boolean =>
  type !== undefined && /^application\/(?:x-amz-)?json/i.test(type);
const isForm = (type: string | undefined): boolean =>
  type === undefined || type.toLowerCase().startsWith(query.formType);

export function renderJsonFailure(error: WireError): Reply {
  const { status, queryCode } = error.kind;
  return {
    status,
    type: jsonType,
    body: renderJsonError(error),
    queryError: `${queryCode};${fault(status)}`,
  };
}

const wantsJson = ({ accept }: IncomingHttpHeaders): boolean => accept === "application/json";

function renderRestFailure(error: WireError): Reply {
  const { status, shape } = error.kind;
  return { status, type: restType, body: renderRestError(error), errorType: shape };
}

/** Whoever names no operation is answered in XML, whatever it accepts (recorded). */
function renderQueryFailure(
  error: WireError,
  { headers, requestId }: Pick<Request, "headers" | "requestId">,
  namespace: string,
): Reply {
  const { status } = error.kind;
  return wantsJson(headers) && error.kind !== genericErrors.unknownOperation
    ? { status, type: "application/json", body: query.renderXmlErrorAsJson(error, requestId) }
    : { status, type: query.xmlType, body: query.renderXmlError(error, namespace, requestId) };
}

export interface DispatchOptions extends Pick<Rooms, "log"> {
  readonly authentication: Authentication;
  /** Whether only this machine can reach the server. */
  readonly onlyHere: boolean;
}

/** An operation of a service that is REST. */
interface Routed {
  readonly service: Service;
  readonly name: string;
  readonly operation: Operation & { readonly route: Route };
}

/** The services by their target prefixes, the routes of those that are REST, and the one that speaks the Query protocol. */
interface Directory extends Pick<DispatchOptions, "authentication" | "onlyHere"> {
  readonly byPrefix: ReadonlyMap<string, Service>;
  readonly routed: readonly Routed[];
  readonly query: Service & { readonly queryNamespace: string };
}

function makeDirectory(
  services: readonly Service[],
  { authentication, onlyHere }: DispatchOptions,
): Directory {
  const speaksQuery = (service: Service): service is Directory["query"] =>
    service.queryNamespace !== undefined;
  return {
    authentication,
    onlyHere,
    byPrefix: new Map(
      services.flatMap((service) => (service.targetPrefix ? [[service.targetPrefix, service]] : [])),
    ),
    routed: services.flatMap((service) =>
      [...service.operations].flatMap(([name, operation]) =>
        operation.route ? [{ service, name, operation: { ...operation, route: operation.route } }] : [],
      ),
    ),
    query: services.find(speaksQuery)!,
  };
}

function findTarget(
  { byPrefix }: Directory,
  target: string,
  path: string,
): { operation: Operation; name: string; service: Service } {
  const dot = target.lastIndexOf(".");
  const service = byPrefix.get(target.slice(0, dot));
  const name = target.slice(dot + 1);
  const operation = service?.operations.get(name);
  if (!operation || !(path === "/" || service!.ownsPath(path))) throw unknownOperation();
  return { operation, name, service: service! };
}

interface Act {
  readonly service: Service;
  readonly operation: Operation;
  readonly action: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** Errors: AccessDenied. */
function authorize({ authentication }: Directory, { request, caller }: Asked, act: Act): void {
  const { service, operation, action, input } = act;
  const subjects = service.subjectsOf(operation, input, pathOf(request.url));
  authentication.authorize(caller, { service: service.prefix, action, subjects });
}

async function answerJson(directory: Directory, asked: Asked, target: string): Promise<Reply> {
  const { request } = asked;
  const path = pathOf(request.url);
  const { operation, name, service } = findTarget(directory, target, path);
  const input = decodeJson(operation.input, request.body);
  authorize(directory, asked, { service, operation, action: name, input });
  const result = await operation.run(makeCall(asked, { protocol: "json", operation: name }), input);
  return { status: 200, type: jsonType, body: renderJson(result) };
}

/** Undefined for a path that is no route's. Errors: UnknownOperation. */
function findRoute({ routed }: Directory, { method, url, headers }: Request) {
  if (headers["x-amz-target"] !== undefined) return undefined;
  const path = pathOf(url);
  const here = routed.flatMap((each) => {
    const labels = readPath(each.operation.route, path);
    return labels ? [{ ...each, labels }] : [];
  });
  const found = here.find(({ operation }) => operation.route.method === method);
  if (here.length > 0 && !found) throw unknownOperation();
  return found;
}

const isRouted = ({ routed }: Directory, { url, headers }: Request): boolean =>
  headers["x-amz-target"] === undefined &&
  routed.some(({ operation }) => readPath(operation.route, pathOf(url)) !== undefined);

async function answerRest(
  directory: Directory,
  asked: Asked,
  { service, name, operation, labels }: NonNullable<ReturnType<typeof findRoute>>,
): Promise<Reply> {
  const { url, body } = asked.request;
  const input = decodeRest(operation, { labels, query: queryOf(url), body });
  authorize(directory, asked, { service, operation, action: name, input });
  const result = await operation.run(makeCall(asked, { protocol: "rest", operation: name }), input);
  return { status: 200, type: restType, body: renderJson(result) };
}

function findAction({ query: service }: Directory, action: string | undefined, path: string): Operation {
  const onRoot = path === "/";
  if (action === undefined || !(onRoot || service.ownsPath(path))) throw unknownOperation();
  const operation = service.operations.get(action);
  if (operation && (onRoot || !service.rootOnly.has(action))) return operation;
  throw new WireError(genericErrors.invalidAction, `The action ${action} is not valid for this endpoint.`);
}

async function answerQuery(directory: Directory, asked: Asked): Promise<Reply> {
  const { request } = asked;
  const path = pathOf(request.url);
  const parameters = query.parseParameters(queryOf(request.url), request.body);
  const action = parameters.get("Action");
  const operation = findAction(directory, action, path);
  const input = query.decodeQuery(operation.input, parameters);
  authorize(directory, asked, { service: directory.query, operation, action: action!, input });
  const call = makeCall(asked, { protocol: "query", operation: action! });
  const answer = {
    action: action!,
    namespace: directory.query.queryNamespace,
    requestId: request.requestId,
    output: operation.output,
    result: await operation.run(call, input),
  };
  return wantsJson(request.headers)
    ? { status: 200, type: "application/json", body: query.renderXmlAsJson(answer) }
    : { status: 200, type: query.xmlType, body: query.renderXml(answer) };
}

async function answer(directory: Directory, request: Request, delivery: Delivery): Promise<Reply> {
  const { headers, method } = request;
  const type = headers["content-type"];
  const target = firstOf(headers["x-amz-target"]);
  refuseForeignPage(headers, directory.onlyHere);
  const caller = await directory.authentication.authenticate(request);
  const asked = { request, delivery, caller };
  const route = findRoute(directory, request);
  if (route) return answerRest(directory, asked, route);
  if (target !== undefined && method === "POST" && isJson(type)) return answerJson(directory, asked, target);
  if (target === undefined && (method === "GET" || (method === "POST" && isForm(type)))) {
    return answerQuery(directory, asked);
  }
  throw unknownOperation();
}

export function makeDispatch(services: readonly Service[], options: DispatchOptions): Dispatch {
  const { log } = options;
  const directory = makeDirectory(services, options);
  const { queryNamespace } = directory.query;

  function toWireError(cause: unknown, requestId: string): WireError {
    for (const service of services) {
      const error = service.toWireError(cause);
      if (error) return error;
    }
    log.error({ cause, requestId }, "a request failed for a reason that nobody foresaw");
    return new WireError(
      genericErrors.internal,
      "The request failed because of an internal error; the log has it by its request id.",
    );
  }

  return async (request, delivery) => {
    try {
      return await answer(directory, request, delivery);
    } catch (cause) {
      const { headers, requestId } = request;
      const error = toWireError(cause, requestId);
      if (isRouted(directory, request)) return renderRestFailure(error);
      if (headers["x-amz-target"] !== undefined || isJson(headers["content-type"]))
        return renderJsonFailure(error);
      return renderQueryFailure(error, request, queryNamespace);
    }
  };
}
