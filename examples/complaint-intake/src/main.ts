// API and workers in one process. In production the API is a process with `workers: false`, and of the other there are as many
// as the work needs.
import { runApp } from "tuntas";
import { listenAt } from "tuntas/fastify";
import intake from "./intake.ts";
import { makeServer } from "./server.ts";
import { openTown } from "./town.ts";

const port = Number(process.env.PORT || 8082);

runApp(intake, {
  name: "complaint-intake",
  before: () => (process.env.SCORING_URL && process.env.OFFICERS_URL) || openTown(),
  serve: async (running) =>
    listenAt(await makeServer(running), { host: "127.0.0.1", port, variable: "PORT" }),
});
