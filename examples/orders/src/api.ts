// The API as a process of its own: sends, never works.
import { runApp } from "tuntas";
import { listenAt } from "tuntas/fastify";
import { listenOptions } from "./config.ts";
import orders from "./orders.ts";
import { makeServer } from "./server.ts";

runApp(orders, {
  name: "orders-api",
  workers: false,
  serve: async (running) => listenAt(await makeServer(running), listenOptions()),
});
