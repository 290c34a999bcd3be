// A package with its six parts, by real processes; one renderer is killed in the middle of a page.
import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { toOutline } from "tuntas/asl/graph";
import { testDatabase, type TestDatabase } from "tuntas/testing";
import { openCourt, type Court } from "./court.ts";
import evidence, { evidencePackage, renderer } from "./evidence.ts";

let court: Court;
let database: TestDatabase;
let folder: string;
let url: string;
beforeAll(async () => {
  court = await openCourt();
  folder = await mkdtemp(join(tmpdir(), "evidence-"));
  database = await testDatabase();
  const { port } = await run("main").line("service.ready");
  url = `http://127.0.0.1:${port as number}`;
  await database.query(
    "insert into evidence.happening select 'C1', '2026-01-01'::timestamptz + n * interval '1 hour', 'thing (' || n || ') happened' from generate_series(1, 900) n",
  );
  await database.query(
    "insert into evidence.paper values ('C1', 'complaint.txt', 'document', 'It is too loud.'), ('C1', 'photo.txt', 'attachment', 'A photo.')",
  );
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
  await court.server.close();
  await rm(folder, { recursive: true });
});

const run = (file: string, env = {}) =>
  database.run(new URL(`../dist/${file}.js`, import.meta.url), { EVIDENCE_DIR: folder, ...env });
const render = () => run("renderer", { TUNTAS_SERVICE: "renderer" });

async function ask(caseId: string): Promise<string> {
  const response = await fetch(`${url}/packages`, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": caseId },
    body: JSON.stringify({ caseId, requestedBy: "ana" }),
  });
  expect(response.status).toBe(202);
  return ((await response.json()) as { packageId: string }).packageId;
}
const show = async (packageId: string): Promise<any> => (await fetch(`${url}/packages/${packageId}`)).json();
const fetchFile = async (packageId: string, name: string): Promise<Buffer> =>
  Buffer.from(await (await fetch(`${url}/packages/${packageId}/files/${name}`)).arrayBuffer());

test("E-07 E-10: killed in the middle of rendering, a package is gone on with, and there is one, whole", async () => {
  // The test holds the third pair of pages.
  await database.query(`create function evidence.hold() returns trigger language plpgsql as
    $$ begin perform pg_advisory_xact_lock_shared(42); return new; end $$`);
  await database.query(`create trigger hold before insert on evidence.page_staging for each row
    when (new.partition = 3) execute function evidence.hold()`);
  const holder = await database.connect();
  await holder.query("select pg_advisory_lock(42)");

  const packageId = await ask("C1");
  await expect.poll(async () => (await show(packageId)).progress.parts).toEqual({ done: 3, of: 3 });
  const first = render();
  const { of: pairs } = { of: 8 };
  await expect
    .poll(async () => (await show(packageId)).progress.pages)
    .toEqual({ done: pairs - 1, of: pairs });
  expect((await show(packageId)).files).toEqual([]); // nothing is seen before all of it is there
  await first.kill();
  // What it had asked of the database ends unheard; let go before, it would have taken place.
  const asked = `select from pg_locks l join pg_database d on d.oid = l.database
    where d.datname = current_database() and locktype = 'advisory' and not granted`;
  await expect.poll(() => database.query(asked)).toEqual([]);
  await holder.end();
  render();

  await expect.poll(async () => (await show(packageId)).status).toBe("DELIVERED");
  const attempts = await database.query(
    "select p.attempts from tuntas.batch_partition p join evidence.package on pages_job = p.job order by p.number",
  );
  expect(attempts.map((row) => row.attempts)).toEqual([1, 1, 2, 1, 1, 1, 1, 1]);

  const { files, manifest, receipt } = await show(packageId);
  expect(files.map(({ kind, name }: Record<string, string>) => `${kind} ${name}`)).toEqual([
    "attachment photo.txt",
    "document complaint.txt",
    "pdf evidence.pdf",
    "timeline timeline.txt",
  ]);
  for (const { name, sha256 } of files)
    expect(
      createHash("sha256")
        .update(await fetchFile(packageId, name))
        .digest("hex"),
    ).toBe(sha256);
  const pdf = (await fetchFile(packageId, "evidence.pdf")).toString("latin1");
  expect(pdf.match(/\/Type \/Page /g)).toHaveLength(16);
  for (const n of [1, 450, 900]) expect(pdf.split(String.raw`thing \(${n}\) happened`)).toHaveLength(2);

  expect([...court.taken]).toEqual([[packageId, manifest]]);
  expect(receipt).toBe(`R-${packageId}`);
  await expect
    .poll(async () => (await show(packageId)).audit.map(({ event }: { event: string }) => event))
    .toEqual(["requested", "committed", "delivered"]);
  await expect
    .poll(() => [...court.notices.values()])
    .toEqual([{ packageId, requestedBy: "ana", status: "DELIVERED" }]);
});

test("a package that cannot be made says so, and nothing of it is seen", async () => {
  await database.query(
    "insert into evidence.happening values ('C2', now(), 'nothing'); insert into evidence.paper values ('C2', 'empty.txt', 'document', '')",
  );
  const packageId = await ask("C2");
  await expect
    .poll(() => show(packageId))
    .toMatchObject({ status: "FAILED", failure: "BatchFailed", files: [] });
});

test("E-08 E-09: each part is in its room, and the process is one graph", () => {
  expect(Object.entries(evidence.parts).map(([name, { kind }]) => `${kind} ${name}`)).toMatchInlineSnapshot(`
    [
      "stream packageEvents",
      "consumer auditTrail",
      "batch evidenceParts",
      "batch evidencePages",
      "workflow evidencePackage",
      "provider court",
      "http requesters",
    ]
  `);
  expect(Object.keys(renderer.parts)).toEqual(["evidencePages"]);
  expect(toOutline(evidencePackage.definition as never)).toMatchInlineSnapshot(`
    "• Mark failed [Function · Mark-failed] → Failed
    • Failed [Fail]
    ▶ Make the package [Parallel] → Mark failed (States.ALL)
        ▶ Gather the parts [Function, waits for an answer · Gather-the-parts] → Render the PDF
        • Render the PDF [Function, waits for an answer · Render-the-PDF] → Commit the package
        • Commit the package [Function · Commit-the-package] → Deliver it
        • Deliver it [Function · Deliver-it] → Notify
        • Notify [Function]
    "
  `);
});
