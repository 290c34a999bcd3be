// Works on large files: start as many as there is to do.
import { runApp } from "tuntas";
import { largeFiles } from "./intake.ts";
import { tier } from "./places.ts";

runApp(largeFiles, { ...tier, name: "file-intake-large" });
