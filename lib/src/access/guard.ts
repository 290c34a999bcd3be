// Who asks, and may they? The one question that a server of pages or JSON asks for each request. On this machine alone
// and without users, whoever reaches it is its owner; with users, everybody signs in.
import type { IncomingHttpHeaders } from "node:http";
import type { TuntasError } from "../core/error.ts";
import type { Access } from "./client.ts";
import type { Who } from "./contract.ts";
import { accessErrors } from "./contract.ts";
import { forgeryOf, isLoopback, isLoopbackName, tokenOf } from "./http.ts";
import { roleOf } from "./scope.ts";
import { csrfOf } from "./secret.ts";
import { demand, type Act } from "./state.ts";

export interface GuardOptions {
  readonly access: Access;
  /** The address that the server listens at. */
  readonly host: string;
  /** True where people come over TLS. */
  readonly secure: boolean;
}

export interface Request {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** The address that it came from. */
  readonly from: string;
}

export interface Admission {
  readonly who: Who;
  /** What the page sends back in x-tuntas-csrf with each change; undefined for a key. */
  readonly csrf: string | undefined;
}

export interface Guard {
  /** Who asks. Errors: TUNTAS_ACCESS_UNKNOWN, TUNTAS_ACCESS_HOST, TUNTAS_ACCESS_FORGED. */
  admit(request: Request): Promise<Admission>;
  /** The same, and that they may do this. Errors: also TUNTAS_ACCESS_DENIED. */
  demand(request: Request, act: Act): Promise<Admission>;
  /** Whether people have to sign in here. */
  needsSignIn(): Promise<boolean>;
}

const status: Readonly<Record<string, number>> = {
  TUNTAS_ACCESS_UNKNOWN: 401,
  TUNTAS_ACCESS_DENIED: 403,
  TUNTAS_ACCESS_FORGED: 403,
  TUNTAS_ACCESS_HOST: 421,
  TUNTAS_ACCESS_LIMITED: 429,
};

/** The HTTP status that tells of the error; undefined for errors of other rooms. */
export const statusOf = ({ code }: Pick<TuntasError, "code">): number | undefined => status[code];

const unforged = (request: Request, admission: Admission): Admission => {
  const reason = forgeryOf(request, admission.csrf);
  if (reason === undefined) return admission;
  throw accessErrors.error("TUNTAS_ACCESS_FORGED", `${request.method} was refused: ${reason}`);
};

export function makeGuard({ access, host, secure }: GuardOptions): Guard {
  const onlyHere = isLoopback(host);

  async function needsSignIn(): Promise<boolean> {
    return !onlyHere || (await access.count()).users > 0;
  }

  async function ofKey({ headers, from }: Request): Promise<Admission> {
    const key = await access.keys.ofBearer(headers.authorization);
    const role = key && roleOf(key.scopes);
    if (!key)
      throw accessErrors.error("TUNTAS_ACCESS_UNKNOWN", "the key is not known, has expired or was revoked");
    if (!role)
      throw accessErrors.error("TUNTAS_ACCESS_DENIED", `the key ${key.name} has no scope console:ROLE`);
    return { who: { name: key.name, role, via: "key", from }, csrf: undefined };
  }

  async function ofSession(request: Request): Promise<Admission> {
    const token = tokenOf(request.headers, { secure });
    const session = token === undefined ? undefined : await access.sessions.find(token);
    if (!session) throw accessErrors.error("TUNTAS_ACCESS_UNKNOWN", "nobody is signed in");
    const who: Who = { name: session.user, role: session.role, via: "session", from: request.from };
    return unforged(request, { who, csrf: csrfOf(token!) });
  }

  async function admit(request: Request): Promise<Admission> {
    const { headers, from } = request;
    if (onlyHere && !isLoopbackName(headers.host))
      throw accessErrors.error(
        "TUNTAS_ACCESS_HOST",
        `expected a Host of this machine, got ${JSON.stringify(headers.host)}`,
      );
    if (headers.authorization?.startsWith("Bearer ")) return ofKey(request);
    if (await needsSignIn()) return ofSession(request);
    return unforged(request, {
      who: { name: "local", role: "admin", via: "loopback", from },
      csrf: undefined,
    });
  }

  return {
    admit,
    needsSignIn,
    async demand(request, act) {
      const admission = await admit(request);
      demand(admission.who, act);
      return admission;
    },
  };
}
