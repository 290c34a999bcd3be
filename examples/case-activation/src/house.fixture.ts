// The application as it runs, for the tests: API, worker and post office on a database of their own, in this process, with
// the database's clock in the test's hands.
import type { FastifyInstance } from "fastify";
import { start, type AppDefinition, type RunningApp } from "tuntas";
import { testPlatform, type TestPlatform } from "tuntas/testing";
import cases from "./cases.ts";
import { makePostOffice } from "./post-office.ts";
import { makeServer } from "./server.ts";
import pg from "pg";
import pino from "pino";

export interface House extends AsyncDisposable {
  readonly kit: TestPlatform;
  readonly server: FastifyInstance;
  /** What was logged. */
  readonly log: readonly Record<string, unknown>[];
  query(text: string, values?: unknown[]): Promise<any[]>;
  /** A request to the API, as that person. */
  call(
    method: "GET" | "POST",
    path: string,
    body?: object,
    person?: string,
  ): Promise<{ status: number; body: any }>;
  open(given?: object): Promise<string>;
  /** The case, once it is there. */
  reaches(caseId: string, status: string): Promise<any>;
  decide(
    caseId: string,
    decision: "approve" | "reject",
    person?: string,
  ): Promise<{ status: number; body: any }>;
  execution(caseId: string): Promise<{ status: string; output: any; error: string | null; arn: string }>;
}

const until = async <T>(look: () => Promise<T | undefined>, what: string): Promise<T> => {
  for (const end = Date.now() + 40_000; Date.now() < end;) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`did not come to be: ${what}`);
};

/** A database of its own on the test server. */
async function makeDatabase(): Promise<{ url: string; drop: () => Promise<void> }> {
  const admin = new pg.Client({ connectionString: process.env.DATABASE_URL });
  await admin.connect();
  const name = `cases_${Math.random().toString(36).slice(2, 10)}`;
  await admin.query(`create database ${name}`);
  const url = new URL(process.env.DATABASE_URL!);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    async drop() {
      await admin.query(`drop database if exists ${name} with (force)`);
      await admin.end();
    },
  };
}

let keys = 0;

export async function openHouse({
  receipts = true,
  app = cases,
}: { receipts?: boolean; app?: AppDefinition } = {}): Promise<House> {
  const { url, drop } = await makeDatabase();
  const lines: Record<string, unknown>[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const kit = await testPlatform({ databaseUrl: url, schema: "tuntas", log });
  let apiUrl: string | undefined;
  const office = await makePostOffice({ database: kit.platform.database, receiptsUrl: () => apiUrl });
  process.env.NOTICE_URL = await office.listen({ host: "127.0.0.1", port: 0 });
  const running: RunningApp = await start(app, { platform: kit.platform });
  const server = await makeServer(running);
  const listening = await server.listen({ host: "127.0.0.1", port: 0 });
  if (receipts) apiUrl = listening;
  const client = new pg.Client({ connectionString: url });
  await client.connect();

  const house: House = {
    kit,
    server,
    log: lines,
    query: async (text, values = []) => (await client.query(text, values)).rows,
    async call(method, path, body, person = "ana") {
      const roles = person.startsWith("sup")
        ? "supervisor"
        : person.startsWith("head")
          ? "head-of-enforcement"
          : "clerk";
      const response = await server.inject({
        method,
        url: path,
        headers: { "x-user": person, "x-roles": roles, "idempotency-key": `key-${keys++}` },
        ...(body && { payload: body }),
      });
      return { status: response.statusCode, body: response.body === "" ? undefined : response.json() };
    },
    async open(given = {}) {
      const asked = { tenantId: "t1", partyName: `Party ${keys}`, jurisdiction: "ID-JK", ...given };
      const { status, body } = await house.call("POST", "/cases", asked);
      if (status !== 202) throw new Error(JSON.stringify(body));
      return body.caseId as string;
    },
    reaches: (caseId, status) =>
      until(async () => {
        const { body } = await house.call("GET", `/cases/${caseId}`);
        return body.status === status ? body : undefined;
      }, `${caseId} is ${status}`),
    async decide(caseId, decision, person = "sup-ben") {
      const [row] = await house.query(
        "select id from tuntas.approval where subject = $1 and status = 'pending'",
        [caseId],
      );
      return house.call(
        "POST",
        `/approvals/${row.id}/decision`,
        { decision, reason: "looked at it" },
        person,
      );
    },
    execution: (caseId) =>
      until(async () => {
        const [row] = await house.query(
          "select e.status, e.output, e.error, e.arn from tuntas.execution e join cases.cases c on c.execution_arn = e.arn where c.case_id = $1 and e.status <> 'RUNNING'",
          [caseId],
        );
        return row && { ...row, output: row.output && JSON.parse(row.output) };
      }, `the execution of ${caseId} ends`),
    async [Symbol.asyncDispose]() {
      await server.close();
      await office.close();
      await running.stop();
      await client.end();
      await kit[Symbol.asyncDispose]();
      await drop();
    },
  };
  return house;
}
