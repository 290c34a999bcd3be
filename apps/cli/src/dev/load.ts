// Loads a file that a command was given, and says in words for a person why it could not: not there, not runnable,
// broken, and at which line.
import { existsSync, statSync } from "node:fs";
import { extname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isTuntasError, TuntasError, type AppDefinition } from "tuntas";
import { cliErrors } from "../errors.ts";

/** Errors: TUNTAS_FILE_MISSING. */
export function requireFile(file: string): void {
  const fail = (what: string) => cliErrors.error("TUNTAS_FILE_MISSING", `${file} ${what}`);
  if (!existsSync(file)) throw fail("does not exist");
  if (!statSync(file).isFile()) throw fail("is a folder, expected a file");
}

/** What the file exports. Errors: TUNTAS_FILE_MISSING, TUNTAS_APP_FAILED, TUNTAS_TYPESCRIPT_UNSUPPORTED, its own. */
export async function loadModule(file: string): Promise<Readonly<Record<string, unknown>>> {
  requireFile(file);
  return import(pathToFileURL(file).href).catch((cause: unknown) => {
    throw isTuntasError(cause) ? withPlace(file, cause) : explainLoad(file, cause);
  });
}

const ownFolder = fileURLToPath(new URL("../../../..", import.meta.url));

/** Where a stack went through the file, else the first place that is neither Node's nor ours. */
function placeIn(stack: string | undefined, file: string): string | undefined {
  const frames = (stack ?? "").matchAll(/(?:^|at |\()((?:file:\/\/)?\/[^\s()]+?:\d+)(?::\d+)?\)?$/gm);
  const paths = [...frames].map(([, at]) =>
    at!.startsWith("file:") ? decodeURIComponent(new URL(at!).pathname) : at!,
  );
  return (
    paths.find((path) => path.startsWith(`${file}:`)) ?? paths.find((path) => !path.startsWith(ownFolder))
  );
}

/** The error of a declaration, with the line that declares. */
function withPlace(file: string, error: TuntasError): TuntasError {
  const place = placeIn(error.stack, file);
  const { meaning, remedy, retryable } = { meaning: "", ...error };
  const message = place === undefined ? error.message : `${place}: ${error.message}`;
  return new TuntasError(
    error.code,
    message,
    { meaning, remedy, retryable },
    { cause: error, details: error.details },
  );
}

function explainLoad(file: string, cause: unknown): Error {
  const { code, stack, message } = cause as NodeJS.ErrnoException;
  if (code === "ERR_UNKNOWN_FILE_EXTENSION" && /^\.[cm]?tsx?$/.test(extname(file))) {
    return cliErrors.error(
      "TUNTAS_TYPESCRIPT_UNSUPPORTED",
      `Node ${process.versions.node} cannot run ${file}`,
      { cause },
    );
  }
  const kind = cause instanceof SyntaxError ? "SyntaxError: " : "";
  const text = `${file} could not be loaded: ${placeIn(stack, file) ?? file}: ${kind}${message ?? String(cause)}`;
  return cliErrors.error("TUNTAS_APP_FAILED", text, { cause });
}

/** The application that the file exports. Errors: TUNTAS_APP_MISSING, and those of `loadModule`. */
export async function loadApplication(file: string): Promise<AppDefinition> {
  const module = (await loadModule(file)) as { default?: AppDefinition };
  if (module.default?.kind === "app") return module.default;
  throw cliErrors.error(
    "TUNTAS_APP_MISSING",
    `${file} exports ${typeof module.default} as its default, expected an application`,
  );
}
