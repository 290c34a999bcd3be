// All of it in one process, for a laptop: `npm start`.
import { runApp } from "tuntas";
import { listenAt } from "tuntas/fastify";
import cases from "./cases.ts";
import { listenOptions } from "./config.ts";
import { openPostOffice } from "./post-office.ts";
import { makeServer } from "./server.ts";

let apiUrl: string | undefined;

runApp(cases, {
  name: "case-activation",
  before: ({ database }) => openPostOffice({ database, receiptsUrl: () => apiUrl }),
  async serve(running) {
    const api = await listenAt(await makeServer(running), listenOptions());
    apiUrl = api.url;
    return api;
  },
});
