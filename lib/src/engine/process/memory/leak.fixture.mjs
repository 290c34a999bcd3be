// A process that keeps what it should let go, until it says so or its memory is full; or one that lets go of it. It runs
// the built code, as in production.
import { subscribe } from "node:diagnostics_channel";
import { makeLog } from "../../../../dist/index.js";
import { watchMemory } from "../../../../dist/engine/process/memory/watch.js";

const leaks = process.argv[2] === "leaks";
const kept = [];
let told = false;
subscribe("tuntas.process.memory_growing", ({ memory }) => (told ||= memory === "heap"));
watchMemory({ log: makeLog(), windowMs: 400 });
for (let n = 0; !told && (leaks || performance.now() < 8000); n++) {
  const made = Array.from({ length: 800 }, (_, index) => ({ n, index, text: `order ${n} ${index}` }));
  if (leaks) kept.push(made);
  globalThis.gc();
  await new Promise((resolve) => setTimeout(resolve, 10));
}
