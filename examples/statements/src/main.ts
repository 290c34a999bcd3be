// The process: as many of them as one likes, each occurrence is there once.
import { runApp } from "tuntas";
import statements from "./statements.ts";

runApp(statements, { name: "statements" });
