// What is looked at when a run is asked for, and once more before it begins: the role of the database, and whether the program
// that it pins has been released.
import type { Runner } from "../../pg/join.ts";
import type { Services } from "../../service/client.ts";
import type { Revision, ServiceReport } from "../../service/contract.ts";
import { commandErrors, type Policy } from "./contract.ts";
import { findRole } from "./store.ts";

/** Errors: TUNTAS_COMMAND_ROLE. */
export async function checkRole(sql: Runner, { databaseRole: name }: Policy): Promise<void> {
  const role = await findRole(sql, name);
  const refuse = (why: string) => commandErrors.error("TUNTAS_COMMAND_ROLE", `the role ${name} ${why}`);
  if (!role) throw refuse("is missing in the database");
  if (role.isOurs) throw refuse("is the one that workers connect as");
  if (role.mayAll) throw refuse("may do everything: it is not scoped to the command");
  if (!role.isMember) throw refuse("is not granted to the one that workers connect as");
}

export interface Released {
  readonly host: string;
  readonly revision: Revision;
}

function releasedOf({ revisions, deployments, host }: ServiceReport, digest: string): Released | undefined {
  const isReleased = (number: number) =>
    deployments.some(({ revision, state }) => revision === number && state === "completed");
  const found = revisions.find(
    ({ revision, definition }) => definition.version === digest && isReleased(revision),
  );
  return found && { host, revision: found.definition };
}

/** The revision of the program's digest; undefined for a handler. Errors: TUNTAS_COMMAND_DIGEST, TUNTAS_SERVICE_MISSING. */
export async function findReleased(
  services: Pick<Services, "describe">,
  { program }: Policy,
): Promise<Released | undefined> {
  if (program === null) return undefined;
  const found = releasedOf(await services.describe(program.service), program.digest);
  if (found) return found;
  throw commandErrors.error(
    "TUNTAS_COMMAND_DIGEST",
    `the service ${program.service} has no revision with the version ${program.digest} that was rolled out to its end`,
  );
}
