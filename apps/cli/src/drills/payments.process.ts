// An instance of the service that pays.
import { runApp } from "tuntas";
import work from "./payments.ts";

runApp(work, { name: "drill payments", dataDir: process.env.TUNTAS_DATA_DIR! });
