// Outbox, side effects, reservations, leases, discrepancies: the rooms' lists, and what a person does to them.
import {
  approveRepair,
  dismiss,
  effectById,
  freeByHand,
  listEffects,
  listLeases,
  listReservations,
  releaseByHand,
  settleByHand,
  standing,
  type Finding,
} from "tuntas/ledger";
import { discardParked, outboxItems, readStatus, retryParked, type TargetName } from "tuntas/outbox";
import type { Bounded, SafetyActs, SafetyReads } from "../../api/index.ts";
import { consoleErrors } from "../../contract.ts";
import type { Fields } from "../fields.ts";
import type { ActsOf, Needs, ReadsOf } from "../needs.ts";

const rowsMax = 1000;

const bounded = <T>(rows: readonly T[]): Bounded<T> => ({
  items: rows,
  more: rows.length >= rowsMax,
});

/** `http:crm` as a target. Errors: TUNTAS_CONSOLE_REQUEST. */
function targetOf(fields: Fields): TargetName | undefined {
  const text = fields.optional("target");
  if (text === undefined) return undefined;
  const [, kind, name] = /^([^:]+):(.+)$/s.exec(text) ?? [];
  if (kind && name) return { kind, name };
  throw consoleErrors.error("TUNTAS_CONSOLE_REQUEST", "target: expected KIND:NAME");
}

const outboxStates = ["waiting", "claimed", "behind", "parked"] as const;
const effectStates = ["pending", "succeeded", "failed", "unknown"] as const;
const reservationStates = ["reserved", "confirmed", "released", "expired"] as const;
const leaseStates = ["running", "expired", "released", "completed"] as const;

export function safetyReads({ platform: { database } }: Needs): ReadsOf<keyof SafetyReads> {
  return {
    "outbox.status": () => readStatus(database),
    "outbox.items": async (query) =>
      bounded(
        await outboxItems(database, {
          target: targetOf(query),
          state: query.choice("state", outboxStates),
          rowsMax,
        }),
      ),
    effects: async (query) =>
      bounded(
        await listEffects(database, {
          state: query.choice("state", effectStates),
          provider: query.optional("provider"),
          work: query.optional("work"),
          rowsMax,
        }),
      ),
    async effect(query) {
      const row = await effectById(database, query.id("id"));
      if (row) return row;
      throw consoleErrors.error("TUNTAS_CONSOLE_MISSING", "there is no such side effect");
    },
    reservations: async (query) =>
      bounded(
        await listReservations(database, {
          kind: query.optional("kind"),
          holder: query.optional("holder"),
          state: query.choice("state", reservationStates),
          overdue: query.flag("overdue"),
        }),
      ),
    leases: async (query) =>
      bounded(await listLeases(database, { state: query.choice("state", leaseStates) })),
    discrepancies: async (query) => bounded(await standing(database, query.optional("name"))),
  };
}

const findings = ["succeeded", "absent", "refused"] as const;

function findingOf(body: Fields): Finding {
  const state = body.oneOf("found", findings);
  const reference = body.optional("reference");
  if (state === "succeeded")
    return {
      state,
      response: { reference: reference ?? null },
      ...(reference !== undefined && { reference }),
    };
  if (state === "refused")
    return { state, code: body.optional("code") ?? "REFUSED", message: body.text("reason") };
  return { state };
}

export function safetyActs({ platform: { database } }: Needs): ActsOf<keyof SafetyActs> {
  return {
    "outbox.retry": {
      may: "outbox.return",
      async run(body, { name: by }) {
        const target = targetOf(body);
        const ids = body.texts("ids");
        const filter = { ...(target && { target }), ...(ids && { ids }) };
        return { count: await retryParked(database, filter, { by, reason: body.text("reason") }) };
      },
    },
    "outbox.discard": {
      may: "outbox.return",
      async run(body, { name: by }) {
        await discardParked(database, body.id("id"), { by, reason: body.text("reason") });
        return { status: "discarded" };
      },
    },
    "effect.settle": {
      may: "effect.settle",
      run: (body, { name: by }) =>
        settleByHand(database, body.id("id"), { finding: findingOf(body), by, reason: body.text("reason") }),
    },
    "reservation.release": {
      may: "reservation.release",
      async run(body, { name: by }) {
        return releaseByHand(database, body.text("id"), { by, reason: body.text("reason") });
      },
    },
    "lease.free": {
      may: "reservation.release",
      async run(body, { name: by }) {
        await freeByHand(database, body.text("name"), { by, reason: body.text("reason") });
        return { status: "freed" };
      },
    },
    "discrepancy.decide": {
      may: "discrepancy.decide",
      run(body, { name: by }) {
        const decide = body.oneOf("decision", ["approve", "dismiss"]) === "approve" ? approveRepair : dismiss;
        return decide(database, body.id("id"), { by, reason: body.text("reason") });
      },
    },
  };
}
