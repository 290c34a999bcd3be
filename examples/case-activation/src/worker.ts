// Steps and duplicate checks as a process of its own: start as many as the work needs.
import { runApp } from "tuntas";
import cases from "./cases.ts";

runApp(cases, { name: "cases-worker" });
