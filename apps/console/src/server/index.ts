// The console behind the gateway's port: pages at /console, their JSON at /console/api.
import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { fileURLToPath } from "node:url";
import { isTuntasError } from "tuntas";
import { consoleErrors } from "../contract.ts";
import { localAccess, type Access, type Who } from "./access.ts";
import { problemOf, writeJson, writeProblem } from "./http/answer.ts";
import { loadAssets } from "./http/assets.ts";
import { readJson } from "./http/body.ts";
import { checkHost, makeTokens, securityHeaders } from "./http/security.ts";
import type { ConsolePlatform } from "./needs.ts";
import { makeRoutes } from "./routes.ts";
import { makeShared } from "./shared.ts";

/** Answers what is the console's; false for what is not. */
export type ConsolePages = (request: IncomingMessage, response: ServerResponse) => boolean;

export interface ConsoleOptions {
  readonly platform: ConsolePlatform;
  readonly access?: Access;
  /** Further places that the pages link to; label to URL. */
  readonly links?: () => Readonly<Record<string, string>>;
  /** Where the built pages are. */
  readonly webFolder?: string;
}

const base = "/console";
const apiPath = /^\/console\/api\/([a-z][a-zA-Z.-]{0,60})$/;

const builtPages = (): string => fileURLToPath(new URL("../web/", import.meta.url));

const wantsPage = ({ method, headers }: IncomingMessage): boolean =>
  (method === "GET" || method === "HEAD") && (headers.accept ?? "").includes("text/html");

function redirect(response: ServerResponse, location: string): void {
  response.writeHead(302, { ...securityHeaders, location, "cache-control": "no-store" }).end();
}

const unknown = () => consoleErrors.error("TUNTAS_CONSOLE_MISSING", "there is no such page");

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

export function consolePages(options: ConsoleOptions): ConsolePages {
  const { platform, access = localAccess, links = () => ({}), webFolder = builtPages() } = options;
  const assets = loadAssets(webFolder);
  const tokens = makeTokens();
  const routes = makeRoutes({
    platform,
    access,
    links,
    shared: makeShared(),
    token: tokens.token,
    version: readVersion(),
  });

  async function whoIs(request: IncomingMessage): Promise<Who> {
    const who = await access.whoIs(request);
    if (who) return who;
    throw consoleErrors.error("TUNTAS_CONSOLE_UNKNOWN", "nobody is signed in");
  }

  async function read(name: string, url: URL, request: IncomingMessage, response: ServerResponse) {
    const query = Object.fromEntries(url.searchParams);
    const { value, ageMs } = await routes.read(name, query, await whoIs(request));
    writeJson(response, value, { headers: { "x-tuntas-age-ms": String(Math.round(ageMs)) } });
  }

  async function act(name: string, request: IncomingMessage, response: ServerResponse) {
    tokens.check(request);
    const who = await whoIs(request);
    writeJson(response, await routes.act(name, await readJson(request), who));
  }

  async function answer(url: URL, request: IncomingMessage, response: ServerResponse): Promise<void> {
    checkHost(request);
    const name = apiPath.exec(url.pathname)?.[1];
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (name !== undefined) return isRead ? read(name, url, request, response) : act(name, request, response);
    if (!isRead) throw unknown();
    if (url.pathname === base) return redirect(response, `${base}/`);
    if (assets.file(url.pathname.slice(base.length + 1), request, response)) return;
    if (url.pathname.startsWith(`${base}/api/`) || !wantsPage(request)) throw unknown();
    assets.page(request, response);
  }

  function fail(cause: unknown, response: ServerResponse): void {
    if (!isTuntasError(cause)) platform.log.error({ cause }, "the console failed");
    writeProblem(response, problemOf(cause));
  }

  return (request, response) => {
    const target = request.url ?? "/";
    if (!URL.canParse(target, "http://console")) return false;
    const url = new URL(target, "http://console");
    if (url.pathname === "/" && wantsPage(request)) {
      redirect(response, `${base}/`);
      return true;
    }
    if (url.pathname !== base && !url.pathname.startsWith(`${base}/`)) return false;
    void answer(url, request, response).catch((cause: unknown) => fail(cause, response));
    return true;
  };
}
