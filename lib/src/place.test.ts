// What Node shows of a declaration that is wrong, by the built package as a program in plain JavaScript has it.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const cwd = fileURLToPath(new URL("../../", import.meta.url));

test.each([
  ['queue("work", { message: undefined })', "TUNTAS_QUEUE_OPTIONS"],
  ['schedule("nightly", { when: "rate(1 hour)" })', "TUNTAS_SCHEDULE_OPTIONS"],
  ['endpoint("partner", {})', "TUNTAS_OUTBOX_OPTIONS"],
  ["app({ work: 1 })", "TUNTAS_"],
  ['readiness("api", { answer: {} })', "TUNTAS_OPTION_UNKNOWN"],
])("%s: Node shows the line that declares, then what is wrong and what to do", (declaration, code) => {
  const program = `import { app, endpoint, queue, schedule } from "tuntas"; import { readiness } from "tuntas/readiness";\n\nexport const it = ${declaration};\n`;
  const { stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
    cwd,
    encoding: "utf8",
  });
  const [place, line, , , what, first] = stderr.split("\n");
  expect([place, line]).toEqual([expect.stringMatching(/\[eval1\]:3$/), `export const it = ${declaration};`]);
  expect(what).toMatch(/^TuntasError: /);
  expect(first).toMatch(/\[eval1\]:3:/);
  expect(stderr).toContain(code);
  expect(stderr).toMatch(/remedy: '/);
});
