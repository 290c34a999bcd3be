// A process that runs an application: from its start to its end by a signal, in the one order in which nothing is lost.
import type { AppDefinition, RunningApp, StartOptions } from "./app.ts";
import { platformOptionsOf, start, startOptionNames } from "./app.ts";
import { toMs } from "./core/duration.ts";
import { refuseUnknown, type NamesOf } from "./core/options.ts";
import { makeClosing, type Closing } from "./engine/closing.ts";
import { makeLog, type Log } from "./engine/log.ts";
import { runMain, runUntilSignal } from "./engine/service.ts";
import { serviceName } from "./measure/own.ts";
import { openPlatform, type Platform } from "./platform.ts";

/** What a process serves beside its application, such as an HTTP server that listens: `listenAt` of `tuntas/fastify` gives one. */
export interface Served {
  /** Where it is reached; the log says so. */
  readonly url?: string;
  readonly port?: number;
  /** Takes nothing new and ends what is in flight; what tells of its health may go on. */
  drain?(): Promise<unknown>;
  close(): Promise<unknown>;
}

export interface RunOptions extends Omit<StartOptions, "platform"> {
  /** What must be there before anything of the application works: a target bound, a stand-in of the outside opened. */
  readonly before?: (platform: Platform) => unknown;
  /** Opens what the process serves, once the application is started. */
  readonly serve?: (running: RunningApp) => Promise<Served | undefined>;
}

const { platform: _, ...ofStart } = startOptionNames;
const runOptionNames: NamesOf<RunOptions> = { ...ofStart, before: true, serve: true };

const drainDefault = "25s";
/** What comes after the drain: connections are closed, the log is written out. */
const closingMs = 4000;

type Named = RunOptions & { readonly name: string; readonly log: Log };

interface Ending {
  begun: boolean;
  hurry?: () => void;
}

/** Opens one thing after another, each with its end in `closing`; stops there once the process is to end. */
async function open(
  definition: AppDefinition,
  { before, serve, name, log, ...rest }: Named,
  { closing, ending }: { readonly closing: Closing; readonly ending: Ending },
): Promise<void> {
  const platform = await openPlatform({ ...platformOptionsOf(rest), name, log });
  closing.add(platform.close);
  if (ending.begun) return;
  await before?.(platform);
  if (ending.begun) return;
  const running = await start(definition, { ...rest, platform });
  let served: Served | undefined;
  closing.add(() => served?.close());
  closing.add(running.stop);
  closing.add(() => served?.drain?.());
  ending.hurry = () => void running.stop().catch(() => undefined); // called again, it hurries
  if (ending.begun) return;
  served = await serve?.(running);
  if (ending.begun) return;
  const { url, port } = served ?? {};
  log.info({ event: "service.ready", ...(port !== undefined && { port }) }, readyText(name, url));
}

/**
 * From the first moment on a signal is heard: the first process of a container, which has no handler yet, would be sent one in vain.
 * What is being opened is opened first, so that it is closed in order.
 */
async function begin(definition: AppDefinition, options: RunOptions): Promise<void> {
  refuseUnknown("runApp", options, runOptionNames);
  const { name = serviceName(), drain = drainDefault } = options;
  const deadlineMs = toMs(drain, "runApp: drain") + closingMs;
  const log = options.log ?? makeLog({ service: name });
  const closing = makeClosing();
  const ending: Ending = { begun: false };
  let opening: Promise<void> | undefined;
  async function stop(): Promise<void> {
    if (ending.begun) ending.hurry?.();
    ending.begun = true;
    await opening?.catch(() => undefined); // told below
    await closing.close();
  }
  runUntilSignal(stop, { log, deadlineMs });
  opening = open(definition, { ...options, name, drain, log }, { closing, ending });
  await opening.catch(async (cause: unknown) => {
    await closing.close().catch(() => undefined);
    if (!ending.begun) throw cause;
    log.warn({ cause }, "the start failed while the process was to end");
  });
}

const readyText = (name: string, url: string | undefined): string =>
  url === undefined ? `${name} works` : `${name} listens on ${url}`;

/**
 * Runs the application until SIGTERM or SIGINT (or the end of the npm that started it), as a process's last act: what is
 * served takes nothing new and ends what is in flight, workers finish what they have within `drain`, what is served is
 * closed, then the database; status 0. A second signal ends it at once, with 130 or 143; what does not end within `drain` and 4s
 * is left to others, with 1. That holds while it begins, too: what is being opened then is opened, and closed. Where it cannot begin it
 * says why in words for a person, with 1.
 */
export function runApp(definition: AppDefinition, options: RunOptions = {}): void {
  runMain(() => begin(definition, options));
}
