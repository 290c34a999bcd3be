// Who asks, as whoever stands in front of this service has authenticated them: it puts the name into headers, and lets none in
// that come from outside.
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Person } from "tuntas/workflow";
import { httpErrors, type PersonHeaders } from "./contract.ts";

type Headers = FastifyRequest["headers"];

/** What a header lists, with commas between. */
function listIn(headers: Headers, name: string | undefined): string[] {
  const value = name === undefined ? undefined : headers[name.toLowerCase()];
  const all = typeof value === "string" ? value.split(",") : [];
  return all.map((each) => each.trim()).filter((each) => each !== "");
}

/** Undefined where the request names nobody. */
function personIn(headers: Headers, of: PersonHeaders): Person | undefined {
  const name = headers[of.name.toLowerCase()];
  if (typeof name !== "string" || name.trim() === "") return undefined;
  return {
    name: name.trim(),
    roles: listIn(headers, of.roles),
    ...(of.groups !== undefined && { groups: listIn(headers, of.groups) }),
  };
}

function requirePerson(headers: Headers, of: PersonHeaders | undefined): Person {
  if (!of)
    throw httpErrors.error("TUNTAS_HTTP_INTERNAL", "request.person: expected tuntasHttp to have personIn");
  const person = personIn(headers, of);
  if (person) return person;
  throw httpErrors.error("TUNTAS_HTTP_PERSON", `${of.name}: expected the name of a person`);
}

/** The caller by name, for keys and the audit. */
export const nameIn = ({ headers }: FastifyRequest, of: PersonHeaders): string | undefined =>
  personIn(headers, of)?.name;

/** Adds `request.person`, and refuses a request that names nobody where its route has `person: true`. */
export function knowPersons(server: FastifyInstance, of: PersonHeaders | undefined): void {
  server.decorateRequest("person", {
    getter(this: FastifyRequest) {
      return requirePerson(this.headers, of);
    },
  });
  server.addHook("onRoute", ({ config }) => {
    if (!config?.person || !of) return;
    const names = [of.name, of.roles, of.groups].filter((name) => name !== undefined);
    config.headers = [...(config.headers ?? []), ...names];
  });
  server.addHook("onRequest", (request, _, next) => {
    if (request.routeOptions.config.person) requirePerson(request.headers, of);
    next();
  });
}
