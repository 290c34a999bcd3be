import { covers, readTenantReaders, roleOf, type Key, type TenantReader } from "tuntas/access";
import type { Command } from "../../command.ts";
import { bold, table } from "../../render.ts";
import { withPlatform } from "../../session.ts";

/** What a person or a machine reads past the database: always of all tenants. */
interface Other {
  readonly who: string;
  readonly reads: string;
}

/** Acts that answer with what a tenant sent: bodies of messages, inputs and outputs of executions. */
const readingActs = [
  ["sqs", "ReceiveMessage"],
  ["states", "DescribeExecution"],
  ["states", "GetExecutionHistory"],
] as const;

function readsOf({ scopes }: Key): string[] {
  const reads = scopes.filter((scope) => {
    const resource = scope.split("@")[1] ?? "any";
    return (
      roleOf([scope]) !== undefined ||
      readingActs.some(([service, action]) => covers([scope], { service, action, resource }))
    );
  });
  return reads.map((scope) => `${scope}, of all tenants`);
}

const isLive = ({ revokedAtMs, expiresAtMs }: Key, nowMs: number): boolean =>
  revokedAtMs === null && (expiresAtMs === null || expiresAtMs > nowMs);

function textOf(readers: readonly TenantReader[], others: readonly Other[]): string {
  const roles = table(readers, {
    table: (reader) => reader.table,
    role: ({ role, current }) => (current ? `${role} (this one)` : role),
    "reads the rows of": ({ reach }) => (reach === "all" ? "ALL tenants" : "its transaction's tenant"),
    because: ({ because }) => because,
  });
  const beside = table(others, { who: ({ who }) => who, reads: ({ reads }) => reads });
  return [`${bold("Roles of the database")}\n${roles}`, `${bold("People and keys")}\n${beside}`].join("\n\n");
}

export const tenantReaders: Command = {
  name: "tenant readers",
  summary:
    "Lists who can read which tenant's rows: each role of the database by table, with the reason where it reads all, and what people and keys read here.",
  examples: [["tuntas tenant readers --json", "for an audit: keep it, and compare it with the last one"]],
  no: "the role of this connection reads the rows of all tenants in a table whose policy asks for app.tenant",
  run: () =>
    withPlatform(async ({ database, access }) => {
      const readers = await readTenantReaders(database);
      const [users, keys] = await Promise.all([access.users.list(), access.keys.list()]);
      const others: readonly Other[] = [
        ...(users.length === 0
          ? [{ who: "anybody on this machine", reads: "the console, of all tenants" }]
          : []),
        ...users.map(({ name, role }) => ({
          who: `user ${name} (${role})`,
          reads: "the console, of all tenants",
        })),
        ...keys
          .filter((key) => isLive(key, Date.now()))
          .flatMap((key) => readsOf(key).map((reads) => ({ who: `key ${key.name}`, reads }))),
      ];
      const message = `${database.schema}.message`;
      const passesBy = readers.some(
        ({ current, reach, table: name }) => current && reach === "all" && name !== message,
      );
      return { document: { readers, others }, text: textOf(readers, others), status: passesBy ? 1 : 0 };
    }),
};
