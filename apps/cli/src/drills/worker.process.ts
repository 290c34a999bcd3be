// A worker, to be killed.
import { runApp } from "tuntas";
import work from "./work.ts";

runApp(work, { name: "drill worker", dataDir: process.env.TUNTAS_DATA_DIR! });
