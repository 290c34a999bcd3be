// The built pages. Every file is known by name from the start, so a path can name nothing else.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { extname, join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
};

interface Asset {
  readonly type: string;
  readonly bytes: Buffer;
  /** Its name changes with its content. */
  readonly immutable: boolean;
  zipped?: Promise<Buffer>;
}

export interface Assets {
  /** Answers the file of this name; false where there is none. */
  file(name: string, request: IncomingMessage, response: ServerResponse): boolean;
  /** Answers the page itself, whatever the path: it finds its way by the address. */
  page(request: IncomingMessage, response: ServerResponse): void;
}

const compress = promisify(gzip);

const unbuilt: Asset = {
  type: types[".html"]!,
  bytes: Buffer.from(
    "<!doctype html><title>Tuntas</title><p>The console is not built here. Run: npm run build</p>",
  ),
  immutable: false,
};

function load(folder: string): Map<string, Asset> {
  const assets = new Map<string, Asset>();
  if (!existsSync(folder)) return assets;
  for (const name of readdirSync(folder, { recursive: true }) as string[]) {
    const type = types[extname(name)];
    if (type === undefined) continue;
    const path = name.replaceAll("\\", "/");
    assets.set(path, {
      type,
      bytes: readFileSync(join(folder, name)),
      immutable: path.startsWith("assets/"),
    });
  }
  return assets;
}

const takesGzip = ({ headers }: IncomingMessage): boolean =>
  /\bgzip\b/.test(String(headers["accept-encoding"] ?? ""));

async function write(asset: Asset, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const zips = takesGzip(request) && asset.bytes.length > 1000;
  const bytes = zips ? await (asset.zipped ??= compress(asset.bytes)) : asset.bytes;
  response.writeHead(200, {
    "content-type": asset.type,
    "content-length": bytes.length,
    "cache-control": asset.immutable ? "public, max-age=31536000, immutable" : "no-store",
    vary: "accept-encoding",
    ...(zips && { "content-encoding": "gzip" }),
  });
  response.end(request.method === "HEAD" ? undefined : bytes);
}

export function loadAssets(folder: string): Assets {
  const assets = load(folder);
  return {
    file(name, request, response) {
      const asset = assets.get(name);
      if (asset) void write(asset, request, response);
      return asset !== undefined;
    },
    page: (request, response) => void write(assets.get("index.html") ?? unbuilt, request, response),
  };
}
