// The console behind the gateway's port: pages at /console, their JSON at /console/api.
import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { fileURLToPath } from "node:url";
import { isTuntasError, refuseUnknown, type NamesOf } from "tuntas";
import { accessErrors, isLoopback, isLoopbackName, makeGuard, securityHeaders } from "tuntas/access";
import { consoleErrors } from "../contract.ts";
import { makeChronicles } from "./chronicle/followed.ts";
import { problemOf, writeJson, writeProblem } from "./http/answer.ts";
import { loadAssets } from "./http/assets.ts";
import { readJson } from "./http/body.ts";
import type { ConsolePlatform, Needs } from "./needs.ts";
import { makeRoutes } from "./routes.ts";
import { makeDoor, viewOf } from "./session.ts";
import { makeShared } from "./shared.ts";

/** Answers what is the console's; false for what is not. */
export type ConsolePages = (request: IncomingMessage, response: ServerResponse) => boolean;

export interface ConsoleOptions {
  readonly platform: ConsolePlatform;
  /** The address that the server listens at; 127.0.0.1 by default. */
  readonly host?: string;
  /** True where people come over TLS. */
  readonly secure?: boolean;
  /** Further places that the pages link to; label to URL. */
  readonly links?: () => Readonly<Record<string, string>>;
  /** The application's APIs, which people may try from the page; name to address. */
  readonly apis?: () => Readonly<Record<string, string>>;
  /** Where the built pages are. */
  readonly webFolder?: string;
}

const optionNames: NamesOf<ConsoleOptions> = {
  platform: true,
  host: true,
  secure: true,
  links: true,
  apis: true,
  webFolder: true,
};

const base = "/console";
const apiPath = /^\/console\/api\/([a-z][a-zA-Z.-]{0,60})$/;

const builtPages = (): string => fileURLToPath(new URL("../web/", import.meta.url));

const wantsPage = ({ method, headers }: IncomingMessage): boolean =>
  (method === "GET" || method === "HEAD") && (headers.accept ?? "").includes("text/html");

const redirect = (response: ServerResponse, location: string): void =>
  void response.writeHead(302, { location, "cache-control": "no-store" }).end();

const missing = () => consoleErrors.error("TUNTAS_CONSOLE_MISSING", "there is no such page");

/** The version of the package that this is part of. */
function readVersion(): string {
  for (const path of ["../../../../package.json", "../../../../lib/package.json"]) {
    try {
      const { name, version } = JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
      if (name === "tuntas") return version as string;
    } catch {
      // The other one is it.
    }
  }
  return "unknown";
}

/** The JSON side: who asks, what, and the answer. */
function makeApi(needs: Needs, { host, secure }: { readonly host: string; readonly secure: boolean }) {
  const guard = makeGuard({ access: needs.platform.access, host, secure });
  const routes = makeRoutes(needs);
  const door = makeDoor(needs, secure);
  const admit = ({ method = "GET", headers, socket }: IncomingMessage) =>
    guard.admit({ method, headers, from: socket.remoteAddress ?? "unknown" });

  async function read(name: string, url: URL, request: IncomingMessage, response: ServerResponse) {
    const admission = await admit(request);
    if (name === "session") return writeJson(response, viewOf(needs, admission));
    const query = Object.fromEntries(url.searchParams);
    const { value, ageMs } = await routes.read(name, query, admission.who);
    writeJson(response, value, { headers: { "x-tuntas-age-ms": String(Math.round(ageMs)) } });
  }

  async function act(name: string, request: IncomingMessage, response: ServerResponse) {
    if (name === "sign-in") return door.signIn(request, response);
    if (name === "sign-out") return door.signOut(request, response);
    const { who } = await admit(request);
    writeJson(response, await routes.act(name, await readJson(request), who));
  }

  return { read, act };
}

export function consolePages(options: ConsoleOptions): ConsolePages {
  refuseUnknown("consolePages", options, optionNames);
  const { platform, host = "127.0.0.1", secure = false } = options;
  const { links = () => ({}), apis = () => ({}), webFolder = builtPages() } = options;
  const assets = loadAssets(webFolder);
  const chronicles = makeChronicles(platform.workflows.executions);
  const needs = { platform, links, apis, chronicles, shared: makeShared(), version: readVersion() };
  const api = makeApi(needs, { host, secure });
  const headers = Object.entries(securityHeaders({ secure }));

  /** A page of another site that had its own name point here gets nothing, not even our pages. */
  function checkName({ headers }: IncomingMessage): void {
    if (isLoopback(host) && !isLoopbackName(headers.host))
      throw accessErrors.error("TUNTAS_ACCESS_HOST", "expected a Host of this machine");
  }

  async function answer(url: URL, request: IncomingMessage, response: ServerResponse): Promise<void> {
    checkName(request);
    const name = apiPath.exec(url.pathname)?.[1];
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (name !== undefined)
      return isRead ? api.read(name, url, request, response) : api.act(name, request, response);
    if (!isRead) throw missing();
    if (url.pathname === base || url.pathname === "/") return redirect(response, `${base}/`);
    if (assets.file(url.pathname.slice(base.length + 1), request, response)) return;
    // The address that is printed answers a `curl` and a load balancer too.
    const isFront = url.pathname === `${base}/`;
    if (url.pathname.startsWith(`${base}/api/`) || !(isFront || wantsPage(request))) throw missing();
    assets.page(request, response);
  }

  function fail(cause: unknown, response: ServerResponse): void {
    if (!isTuntasError(cause)) platform.log.error({ cause }, "the console failed");
    writeProblem(response, problemOf(cause));
  }

  const isOurs = (path: string, request: IncomingMessage): boolean =>
    path === base || path.startsWith(`${base}/`) || (path === "/" && wantsPage(request));

  return (request, response) => {
    const target = request.url ?? "/";
    if (!URL.canParse(target, "http://console")) return false;
    const url = new URL(target, "http://console");
    if (!isOurs(url.pathname, request)) return false;
    for (const [name, value] of headers) response.setHeader(name, value);
    void answer(url, request, response).catch((cause: unknown) => fail(cause, response));
    return true;
  };
}
