// API and worker in one process. As two: run this one with `workers: false`, and as many of the other as the work needs.
import { runApp } from "tuntas";
import { listenAt } from "tuntas/fastify";
import orderIntake from "./order-intake.ts";
import { makeServer } from "./order-intake.server.ts";

const at = {
  host: process.env.HOST || "127.0.0.1",
  port: Number(process.env.PORT || 8080),
  variable: "PORT",
};

// At SIGTERM: not ready any more, then no new requests, then the worker finishes what it has.
runApp(orderIntake, {
  name: "order-intake",
  serve: async (running) => listenAt(await makeServer(running), at),
});
