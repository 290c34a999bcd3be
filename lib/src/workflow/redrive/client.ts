// Looking before a redrive, and redriving on the record.
import type { ExecutionState, Json } from "../../asl/contract.ts";
import { writeAudit } from "../../engine/audit.ts";
import type { Sql } from "../../pg/contract.ts";
import type { Approvals } from "../approval/client.ts";
import type { Executions } from "../client/executions.ts";
import { workflowErrors, type ExecutionRecord } from "../contract.ts";
import type {
  DomainFact,
  DomainView,
  Facts,
  HaltedState,
  Inspection,
  RedriveDecision,
  RedriveReport,
} from "./contract.ts";
import { redriveErrors } from "./contract.ts";
import { judge, obstacles } from "./state.ts";
import { commandsOf, effectsOf, outboxOf, reservationsOf } from "./store.ts";

export interface Redrives {
  /** What the execution has left behind, and whether a redrive is safe. Errors: TUNTAS_EXECUTION_MISSING. */
  inspect(arn: string): Promise<Inspection>;
  /**
   * Redrives by an operator's decision, which is on record in the same commit. Errors: TUNTAS_REDRIVE_FORBIDDEN,
   * TUNTAS_REDRIVE_CHANGED, TUNTAS_REDRIVE_REFUSED, TUNTAS_EXECUTION_MISSING.
   */
  redrive(arn: string, decision: RedriveDecision): Promise<RedriveReport>;
  /** How this process reads the domain rows of a workflow; undefined where it has none. Answers what ends that. */
  bind(workflow: string, view: DomainView | undefined): () => void;
}

export interface RedriveParts {
  readonly database: Sql;
  readonly find: (arn: string) => Promise<ExecutionRecord | undefined>;
  readonly stateOf: (executionId: string) => Promise<ExecutionState | undefined>;
  /** Whether handlers of an application carry the machine's tasks out. */
  readonly isOwn: (revision: string) => Promise<boolean>;
  readonly redrive: Executions["redrive"];
  readonly approvals: Pick<Approvals, "list">;
}

function haltedOf(state: ExecutionState | undefined): HaltedState[] {
  const halted = state?.branches.filter((branch) => branch.halted) ?? [];
  return halted.map(({ state: name, retries = [], wait }) => ({
    state: name,
    attempts: 1 + retries.reduce((sum, each) => sum + each, 0),
    atTask: wait?.for === "task",
  }));
}

const nameOf = (arn: string): string => arn.split(":")[6] ?? "";

export function makeRedrives(parts: RedriveParts): Redrives {
  const { database, approvals } = parts;
  const views = new Map<string, DomainView | undefined>();

  async function domainOf({ machineArn, revision, input }: ExecutionRecord): Promise<DomainFact> {
    const name = nameOf(machineArn);
    const view = views.get(name);
    if (!view) {
      const isElsewhere = !views.has(name) && (await parts.isOwn(revision));
      return { known: isElsewhere ? "not read here" : "none declared" };
    }
    const key = view.key(JSON.parse(input) as Json);
    const row = await database.transaction(({ client }) => view.read(client, key));
    return { known: "read", key, row };
  }

  async function lookAt(execution: ExecutionRecord): Promise<Facts> {
    const { arn, id, name } = execution;
    const domain = await domainOf(execution);
    const keys = [arn, name, ...(domain.known === "read" ? [domain.key] : [])];
    return {
      execution,
      domain,
      halted: haltedOf(await parts.stateOf(id)),
      commands: await commandsOf(database, execution),
      outbox: await outboxOf(database, keys),
      effects: await effectsOf(database, keys),
      reservations: await reservationsOf(database, keys),
      approvals: await approvals.list({ executionArn: arn, status: "any" }),
    };
  }

  async function inspect(arn: string): Promise<Inspection> {
    const execution = await parts.find(arn);
    if (!execution)
      throw workflowErrors.error("TUNTAS_EXECUTION_MISSING", `expected an execution's ARN, got ${arn}`);
    const facts = await lookAt(execution);
    return { ...facts, ...judge(facts, views.get(nameOf(execution.machineArn))) };
  }

  function assertAllowed({ execution, verdict, findings }: Inspection, decision: RedriveDecision): void {
    if (verdict !== decision.seen)
      throw redriveErrors.error(
        "TUNTAS_REDRIVE_CHANGED",
        `${execution.arn}: expected the verdict that was seen, "${decision.seen}", but it is "${verdict}"`,
      );
    const against = obstacles(findings, decision.reconciled ?? false);
    if (against.length === 0) return;
    const named = against.map(({ about, message, remedy }) => `${about}: ${message} (${remedy})`).join("; ");
    throw redriveErrors.error("TUNTAS_REDRIVE_FORBIDDEN", `${execution.arn}: ${named}`, {
      details: { verdict, findings: against },
    });
  }

  return {
    inspect,
    async redrive(arn, decision) {
      const inspection = await inspect(arn);
      assertAllowed(inspection, decision);
      const { by, reason, seen, reconciled = false } = decision;
      const details = { verdict: seen, reconciled, findings: inspection.findings };
      const entry = { actor: by, action: "workflow.redrive", subject: arn, reason, details };
      let auditId = "";
      const isRedriven = await parts.redrive(inspection.execution, {
        async write(tx) {
          auditId = await writeAudit(tx, entry);
        },
      });
      if (isRedriven) return { status: "redriven", inspection, auditId };
      throw redriveErrors.error("TUNTAS_REDRIVE_CHANGED", `${arn}: somebody else redrove it a moment before`);
    },
    bind(workflow, view) {
      views.set(workflow, view);
      return () => void views.delete(workflow);
    },
  };
}
