// A program of a release: it says how it was started, does what MISBEHAVE says, and leaves its result.
import { appendFileSync, writeFileSync, writeSync } from "node:fs";

const [, , word, ...args] = process.argv;
const { MISBEHAVE, MARK, TUNTAS_RESULT, TUNTAS_IDEMPOTENCY_KEY, PGOPTIONS, SECRET } = process.env;
if (word === "serve") setInterval(() => undefined, 1000);
else {
  writeSync(1, JSON.stringify({ args, PGOPTIONS, SECRET, key: TUNTAS_IDEMPOTENCY_KEY?.length }));
  if (MARK) appendFileSync(MARK, `${process.pid}\n`);
  if (MISBEHAVE === "hang") setInterval(() => undefined, 1000);
  else if (MISBEHAVE === "die") process.kill(process.pid, "SIGKILL");
  else if (MISBEHAVE !== "silent") {
    const result = { recordsRead: 3, recordsWritten: 2, recordsSkipped: 1, warnings: ["one is closed"] };
    writeFileSync(TUNTAS_RESULT, JSON.stringify(result));
  }
}
