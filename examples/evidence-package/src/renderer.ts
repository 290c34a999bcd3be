// Renders pages: TUNTAS_SERVICE=renderer node dist/renderer.js, as many as there is to render.
import { runApp } from "tuntas";
import { renderer } from "./evidence.ts";

runApp(renderer, { name: "renderer" });
