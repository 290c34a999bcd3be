// Listens, takes notices and works on small files.
import { runApp } from "tuntas";
import { listenAt } from "tuntas/fastify";
import intake from "./intake.ts";
import { tier } from "./places.ts";
import { makeServer } from "./server.ts";

const port = Number(process.env.PORT || 8085);

runApp(intake, {
  ...tier,
  name: "file-intake",
  serve: async (running) =>
    listenAt(await makeServer(running), { host: "127.0.0.1", port, variable: "PORT" }),
});
