import { hostname } from "node:os";
import { makeLog, openPlatform, runUntilSignal } from "tuntas";
import { openFront, outputsDefault, runServices } from "tuntas/service";
import type { Command } from "../../command.ts";
import { facts } from "../../render.ts";
import { databaseOfEnvironment } from "../../session.ts";
import { databaseName } from "../serve.ts";

/** The longest stop timeout that there is, and a little. */
const deadlineMs = 130_000;

export const serviceRun: Command = {
  name: "service run",
  summary:
    "Runs the services of this machine: starts, watches, replaces and scales their instances until it is stopped itself.",
  options: {
    host: { value: "NAME", meaning: "the name of this machine; what it is called by default" },
  },
  examples: [
    ["tuntas service run", "at boot, by systemd or the like; a second one on the same machine stands by"],
    ["DATABASE_URL=postgres://db.internal/work tuntas service run", "on a PostgreSQL of your own"],
  ],
  no: "it could not start",
  async run(call) {
    process.env.TUNTAS_LOG_LEVEL ??= "info";
    const log = makeLog({ service: "tuntas service run" }, "stderr");
    const platform = await openPlatform({ ...databaseOfEnvironment(), name: "tuntas service run", log });
    const host = call.text("host") ?? hostname();
    const controller = runServices(platform, { host });
    const stop = async () => {
      await controller.close();
      await platform.close();
    };
    runUntilSignal(stop, { log, deadlineMs });
    const [outputs, database] = [outputsDefault(), databaseName()];
    return {
      document: { status: "running", host, pid: process.pid, outputs, database },
      text: facts({ machine: host, "what instances print": outputs, database, stop: "Ctrl-C" }),
    };
  },
};

export const serviceFront: Command = {
  name: "service front",
  summary: "Listens on one port for a service and passes requests on to its healthy instances.",
  arguments: [{ name: "SERVICE", required: true }],
  options: {
    port: { value: "PORT", meaning: "where it listens (required); 0 takes a free one" },
    protocol: {
      value: "PROTOCOL",
      meaning: "http (request by request; WebSocket too) or tcp; by default tcp for gRPC alone",
    },
    listen: { value: "ADDRESS", meaning: "127.0.0.1 by default" },
  },
  examples: [["tuntas service front orders-api --port 8080", "the same address through every deployment"]],
  no: "the port is taken, or there is no such service",
  async run(call) {
    const port = call.count("port", [0, 65_535]);
    if (port === undefined) throw call.wrong("--port is required");
    const protocol = call.oneOf("protocol", ["http", "tcp"]);
    const [service, host] = [call.argument(0), call.text("listen") ?? "127.0.0.1"];
    const log = makeLog({ service: "tuntas service front" }, "stderr");
    const platform = await openPlatform({
      ...databaseOfEnvironment(),
      name: "tuntas service front",
      log,
      watches: false,
    });
    const front = await openFront({ ...platform, service, port, host, protocol }).catch(
      async (cause: unknown) => {
        await platform.close();
        throw cause;
      },
    );
    const stop = async () => {
      await front.close();
      await platform.close();
    };
    runUntilSignal(stop, { log });
    const url = `http://${host}:${front.port}`;
    return {
      document: { status: "listening", service, url, port: front.port },
      text: facts({ service, url, stop: "Ctrl-C" }),
    };
  },
};
