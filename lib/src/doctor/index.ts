// Says what is wrong here and what to do about it. It looks and changes nothing.
import { existsSync } from "node:fs";
import { attachEmbedded } from "../pg/embedded/index.ts";
import { openDatabase, type Database } from "../pg/database.ts";
import { findingOf, ok, type Finding } from "./contract.ts";
import { contentChecks, examineSchema, serverChecks, type Thresholds } from "./database.ts";
import { examineDisk, examineNode, examinePort } from "./host.ts";

export interface DoctorOptions extends Thresholds {
  /** The database; where undefined, the embedded server under `dataDir`. */
  readonly databaseUrl: string | undefined;
  readonly dataDir: string;
  readonly port: number;
}

async function examineDatabase(url: string, thresholds: Thresholds): Promise<Finding[]> {
  let database: Database;
  try {
    database = await openDatabase({ url, connectionsMax: 1, applicationName: "tuntas doctor" });
  } catch (cause) {
    return [findingOf("database", cause)];
  }
  try {
    const findings: Finding[] = [];
    const run = async (check: (typeof serverChecks)[number]) =>
      findings.push(
        await check(database, thresholds).catch((cause: unknown) => findingOf(check.name, cause)),
      );
    for (const check of serverChecks) await run(check);
    const { finding, ready } = await examineSchema(database);
    findings.push(finding);
    if (ready) for (const check of contentChecks) await run(check);
    return findings;
  } finally {
    await database.close();
  }
}

async function examineEmbedded(dataDir: string, thresholds: Thresholds): Promise<Finding[]> {
  if (!existsSync(dataDir))
    return [ok("data directory", `${dataDir} is not there yet; the first start makes it`)];
  try {
    const server = await attachEmbedded({ dataDir });
    const findings = await examineDatabase(server.url, thresholds);
    await server.detach();
    return [ok("data directory", dataDir), ...findings];
  } catch (cause) {
    return [findingOf("data directory", cause)];
  }
}

/** Everything that was looked at, in the order in which a person would. */
export async function examine({
  databaseUrl,
  dataDir,
  port,
  ...thresholds
}: DoctorOptions): Promise<Finding[]> {
  return [
    examineNode(process.versions.node),
    ...(port === 0 ? [] : [await examinePort(port)]),
    ...(databaseUrl === undefined
      ? [await examineDisk(dataDir), ...(await examineEmbedded(dataDir, thresholds))]
      : await examineDatabase(databaseUrl, thresholds)),
  ];
}

export type { Finding };
