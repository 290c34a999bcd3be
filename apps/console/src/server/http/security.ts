// What keeps others out of a server that trusts its own machine: a page of another site may not read it under a name of
// its own (DNS rebinding), may not make it do anything (forged requests), and may not put it into a frame. What a
// message or a name holds is never run: scripts and styles come from our own files alone.
import { randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { consoleErrors } from "../../contract.ts";

export const securityHeaders: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
};

const ownNames = /^(localhost|[a-z0-9-]+\.localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i;
const loopbackAddress = /^(::1|(::ffff:)?127\.)/;

/** Whether the connection came in on this machine's own address. */
const isLocal = ({ socket }: IncomingMessage): boolean => loopbackAddress.test(socket.localAddress ?? "");

/** Refuses a loopback server asked under a foreign name. Errors: TUNTAS_CONSOLE_HOST. */
export function checkHost(request: IncomingMessage): void {
  const host = request.headers.host ?? "";
  if (!isLocal(request) || ownNames.test(host)) return;
  throw consoleErrors.error(
    "TUNTAS_CONSOLE_HOST",
    `expected a name of this machine, got ${host.slice(0, 100)}`,
  );
}

export interface Tokens {
  readonly token: string;
  /** Errors: TUNTAS_CONSOLE_FORGED. */
  check(request: IncomingMessage): void;
}

const same = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));

/** The token that acts must carry, made anew with each server. */
export function makeTokens(): Tokens {
  const token = randomBytes(24).toString("base64url");

  function faultOf({ headers }: IncomingMessage): string | undefined {
    const { origin, host } = headers;
    if (origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`)
      return `the origin ${origin.slice(0, 100)}`;
    const site = headers["sec-fetch-site"];
    if (site !== undefined && site !== "same-origin") return `a request from ${String(site).slice(0, 20)}`;
    if (!/^application\/json\b/i.test(headers["content-type"] ?? "")) return "another content type than JSON";
    const given = headers["x-tuntas-csrf"];
    if (typeof given !== "string" || !same(given, token)) return "no valid x-tuntas-csrf";
    return undefined;
  }

  return {
    token,
    check(request) {
      const fault = faultOf(request);
      if (fault) throw consoleErrors.error("TUNTAS_CONSOLE_FORGED", `nothing was changed: it has ${fault}`);
    },
  };
}
