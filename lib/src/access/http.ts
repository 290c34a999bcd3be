// What a server of pages needs around each request: cookies, headers, and the proof that a change was asked for by its
// own page. All of it pure: headers in, headers or a refusal out.
import type { IncomingHttpHeaders } from "node:http";
import { isSame } from "./secret.ts";

/** A cookie that only this host's own pages over TLS send, where there is TLS. */
const cookieName = (secure: boolean): string => (secure ? "__Host-tuntas" : "tuntas-session");

export interface CookieOptions {
  /** True where people come over TLS (their proxy's, say). */
  readonly secure: boolean;
}

const attributes = ({ secure }: CookieOptions): string =>
  `Path=/; HttpOnly; SameSite=Strict${secure ? "; Secure" : ""}`;

export const sessionCookie = (token: string, options: CookieOptions): string =>
  `${cookieName(options.secure)}=${token}; ${attributes(options)}`;

/** Ends the session in the browser. */
export const endedCookie = (options: CookieOptions): string =>
  `${cookieName(options.secure)}=; Max-Age=0; ${attributes(options)}`;

/** The session's token in the request's cookies. */
export function tokenOf({ cookie }: IncomingHttpHeaders, { secure }: CookieOptions): string | undefined {
  const start = `${cookieName(secure)}=`;
  const found = (cookie ?? "").split("; ").find((each) => each.startsWith(start));
  const token = found?.slice(start.length);
  return token !== undefined && /^[A-Za-z0-9_-]{43}$/.test(token) ? token : undefined;
}

/** For every page: nothing but the server's own scripts and styles, in nobody's frame, no guessing of types. */
export const securityHeaders = ({ secure }: CookieOptions): Readonly<Record<string, string>> => ({
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
  ...(secure && { "strict-transport-security": "max-age=31536000" }),
});

const changes = (method: string): boolean => !["GET", "HEAD", "OPTIONS"].includes(method);

/** The host of a URL or of a Host header, without what else may stand there. */
const hostOf = (url: string): string | undefined => (URL.canParse(url) ? new URL(url).host : undefined);

/** Whether the request was made by a page of another site, as far as the browser says. */
function isForeign({ origin, host, "sec-fetch-site": site }: IncomingHttpHeaders): boolean {
  if (site !== undefined && site !== "same-origin" && site !== "none") return true;
  return origin !== undefined && (origin === "null" || hostOf(origin) !== host);
}

export interface Asked {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
}

/**
 * Why a request is not to be trusted to come from the server's own page; undefined where it is. A change needs the
 * session's token in x-tuntas-csrf besides; where nobody signs in, any value of that header, which no form can send.
 */
export function forgeryOf({ method, headers }: Asked, csrf: string | undefined): string | undefined {
  if (!changes(method)) return undefined;
  if (isForeign(headers)) return "it came from a page of another origin";
  const given = headers["x-tuntas-csrf"];
  if (typeof given !== "string") return "it has no x-tuntas-csrf header";
  if (csrf !== undefined && !isSame(given, csrf)) return "its x-tuntas-csrf header is not the session's";
  return undefined;
}

const loopbackNames = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i;

/** Whether a Host header names this machine: another name may be a page that had its own name point here. */
export const isLoopbackName = (host: string | undefined): boolean => loopbackNames.test(host ?? "");

/** Whether an address to listen at is reached from this machine alone. */
export const isLoopback = (address: string): boolean =>
  /^(localhost|127(\.\d{1,3}){3}|::1|::ffff:127(\.\d{1,3}){3})$/i.test(address);
