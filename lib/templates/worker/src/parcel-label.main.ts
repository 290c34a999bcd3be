// The process: start as many as the work needs, on as many machines. SIGTERM ends it in order.
import { runApp } from "tuntas";
import parcelLabel from "./parcel-label.ts";

runApp(parcelLabel, { name: "parcel-label" });
