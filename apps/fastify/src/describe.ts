// What the routes take, said once: a route's schema checks its body, and /openapi.json tells it to whoever asks.
import type { FastifyInstance, FastifyRequest, RouteOptions } from "fastify";
import { describeIssues, jsonSchemaOf, type Schema } from "tuntas";
import { httpErrors } from "./contract.ts";

type Issue = Parameters<typeof describeIssues>[0][number];

const issueOf = (issue: Issue) => ({
  path: (issue.path ?? []).map((step) => String(typeof step === "object" ? step.key : step)).join("."),
  message: issue.message,
});

/** Errors: TUNTAS_HTTP_INVALID, with its issues. */
async function check(request: FastifyRequest, schema: Schema): Promise<void> {
  const result = await schema["~standard"].validate(request.body ?? {});
  if (result.issues)
    throw httpErrors.error("TUNTAS_HTTP_INVALID", describeIssues(result.issues), {
      details: { issues: result.issues.map(issueOf) },
    });
  request.body = result.value;
}

/** Checks the bodies of routes with a schema, after their key was looked at. */
export function checkBodies(server: FastifyInstance): void {
  server.addHook("preHandler", (request, _, next) => {
    const schema = request.routeOptions.config.body;
    if (!schema) return next();
    check(request, schema).then(() => next(), next);
  });
}

const header = (name: string, required: boolean) => ({
  name,
  in: "header",
  required,
  schema: { type: "string" },
});

const mutating = new Set(["POST", "PUT", "PATCH", "DELETE"]);

function headersOf(method: string, { config }: RouteOptions) {
  const idempotency = config?.idempotency ?? (mutating.has(method) ? "required" : "off");
  const key = idempotency === "off" ? [] : [header("Idempotency-Key", idempotency === "required")];
  const own = (config?.headers ?? []).map((name) => header(name, true));
  return [...own, ...key, header("X-Correlation-Id", false)];
}

const parametersOf = (url: string) =>
  [...url.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));

function operationOf(method: string, route: RouteOptions) {
  const { url, config } = route;
  const schema = config?.body && jsonSchemaOf(config.body);
  return {
    ...(config?.summary !== undefined && { summary: config.summary }),
    parameters: [...parametersOf(url), ...headersOf(method, route)],
    ...(schema && { requestBody: { required: true, content: { "application/json": { schema } } } }),
    responses: { default: { description: "As the service answers; errors are application/problem+json." } },
  };
}

/** Collects the routes from here on, and answers /openapi.json with them. Health and metrics are left out. */
export function serveDescription(server: FastifyInstance): void {
  const paths: Record<string, Record<string, unknown>> = {};
  server.addHook("onRoute", (route) => {
    if (route.config?.shed === false) return;
    for (const method of [route.method].flat()) {
      if (method === "HEAD" || method === "OPTIONS") continue;
      const path = route.url.replace(/:(\w+)/g, "{$1}");
      paths[path] = { ...paths[path], [method.toLowerCase()]: operationOf(method, route) };
    }
  });
  const info = { title: "The application's API", version: "1" };
  server.get("/openapi.json", { config: { shed: false }, logLevel: "silent" }, () => ({
    openapi: "3.1.0",
    info,
    paths,
  }));
}
