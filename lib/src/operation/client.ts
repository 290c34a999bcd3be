// The asking side: preview, start, and what a person can say to an operation that runs. Each word goes on the record in
// the transaction that it takes effect in.
import { randomUUID } from "node:crypto";
import { canonicalText } from "../ledger/index.ts";
import { writeAudit } from "../engine/audit.ts";
import type { Waker } from "../engine/wake.ts";
import { makeBell } from "../engine/wake.ts";
import type { Sql, Tx } from "../pg/contract.ts";
import type {
  Act,
  Operation,
  OperationKind,
  RecordedItem,
  StartOptions,
  Started,
  Survey,
} from "./contract.ts";
import { operationErrors } from "./contract.ts";
import { after, hasChanged, hasEnded, type Verb } from "./state.ts";
import * as store from "./store.ts";

/** What a runner listens for, and what whoever waits for an end listens for. */
export const operationKey = "operation";

export interface Operations {
  /** Adds a kind; an application registers its own. Answers what removes it. */
  register(kind: OperationKind): () => void;
  /** What it would be done to; changes nothing. Errors: TUNTAS_OPERATION_KIND, the kind's own. */
  preview(kind: string, selection: unknown): Promise<Survey<unknown>>;
  /**
   * Begins an operation, which whatever process then carries out. Errors: TUNTAS_OPERATION_OPTIONS, _KIND, _EMPTY,
   * _CHANGED, _FORBIDDEN, the kind's own.
   */
  start(options: StartOptions): Promise<Started>;
  /** Errors: TUNTAS_OPERATION_MISSING, TUNTAS_OPERATION_STATE; TUNTAS_OPERATION_FOUR_EYES where who asked approves. */
  say(verb: Verb, id: string, act: Act): Promise<Operation>;
  /** Changes the rate of an operation that runs; null for as fast as it goes. */
  setRate(id: string, perSecond: number | null, act: Act): Promise<Operation>;
  /** Errors: TUNTAS_OPERATION_MISSING. */
  get(id: string): Promise<Operation>;
  /** The newest first. */
  list(filter?: store.OperationFilter): Promise<Operation[]>;
  /** What became of each thing, in the order in which they were done. */
  items(id: string, filter?: store.ItemFilter): Promise<RecordedItem[]>;
  /** Resolves once it has ended, failed, or waits for a person; or when the signal aborts. */
  settled(id: string, signal?: AbortSignal): Promise<Operation>;
}

/** What a kind adds to the words that are said to its operations, in the transaction of the word; throws to refuse it. */
export type Rule = (tx: Tx, verb: Verb, of: Pick<Operation, "id" | "kind">, act: Act) => Promise<void>;

export interface OperationsOptions {
  readonly rule: Rule;
  readonly database: Sql;
  readonly waker: Waker;
  readonly kinds: Map<string, OperationKind>;
  /** Tells runners of all processes that there is something to do, or to stop. */
  readonly announce: () => void;
}

const lookAgainMs = 1000;

function checkStart({ actor, reason, perSecond }: StartOptions): void {
  for (const [name, value] of Object.entries({ actor, reason })) {
    if (typeof value === "string" && value.trim() !== "") continue;
    throw operationErrors.error(
      "TUNTAS_OPERATION_OPTIONS",
      `expected ${name} to say something, got ${JSON.stringify(value)}`,
    );
  }
  checkRate(perSecond ?? null);
}

function checkRate(perSecond: number | null): void {
  if (perSecond === null || (Number.isInteger(perSecond) && perSecond >= 1)) return;
  throw operationErrors.error(
    "TUNTAS_OPERATION_OPTIONS",
    `expected perSecond to be a whole number from 1, got ${perSecond}`,
  );
}

function checkSurvey(
  { count, forbidden }: Survey<unknown>,
  { expected, skipForbidden, kind }: StartOptions,
): void {
  if (forbidden.length > 0 && !skipForbidden) {
    const rules = forbidden.map((each) => `${each.count} (rule: ${each.rule})`).join("; ");
    throw operationErrors.error(
      "TUNTAS_OPERATION_FORBIDDEN",
      `${kind}: nothing was done; forbidden are ${rules}`,
      {
        details: { forbidden },
      },
    );
  }
  if (count === 0) throw operationErrors.error("TUNTAS_OPERATION_EMPTY", `${kind}: nothing is selected`);
  if (expected !== undefined && hasChanged(expected, count))
    throw operationErrors.error(
      "TUNTAS_OPERATION_CHANGED",
      `${kind}: expected about ${expected}, and now ${count} are selected`,
    );
}

const onRecord = (tx: Tx, id: string, { actor, reason }: Act, [verb, details]: readonly [string, object]) =>
  writeAudit(tx, {
    actor,
    action: `operation.${verb}`,
    subject: `operation ${id}`,
    reason,
    details: { ...details },
  });

export function makeOperations({ database, waker, kinds, rule, announce }: OperationsOptions): Operations {
  function kindOf(name: string): OperationKind {
    const kind = kinds.get(name);
    if (kind) return kind;
    throw operationErrors.error(
      "TUNTAS_OPERATION_KIND",
      `there is no kind of operation ${JSON.stringify(name)}; there are ${[...kinds.keys()].join(", ")}`,
    );
  }

  async function get(id: string): Promise<Operation> {
    const found = /^\d{1,18}$/.test(id) ? await store.findOperation(database, id) : undefined;
    if (found) return found;
    throw operationErrors.error("TUNTAS_OPERATION_MISSING", `there is no operation ${JSON.stringify(id)}`);
  }

  /** The operation that the key belongs to. */
  async function meet(key: string, kind: string, request: string): Promise<Started | undefined> {
    const found = await store.findByKey(database, key);
    if (!found) return undefined;
    const same = found.kind === kind && found.request === request;
    return { status: same ? "duplicate" : "conflict", operation: found };
  }

  async function start(options: StartOptions): Promise<Started> {
    checkStart(options);
    const { kind, actor, reason, key = randomUUID(), perSecond = null, approval } = options;
    const request = canonicalText(options.selection);
    const known = await meet(key, kind, request);
    if (known) return known;
    const survey = await kindOf(kind).survey(options.selection);
    checkSurvey(survey, options);
    const state = approval ? "awaiting_approval" : "running";
    const { count: selected, selection } = survey;
    const wanted = { key, kind, request, selection, actor, reason, state, selected, perSecond } as const;
    const id = await database.transaction(async (tx) => {
      const made = await store.insertOperation(tx, wanted);
      if (made !== undefined)
        await onRecord(tx, made, options, ["start", { kind, selected, selection, perSecond, state }]);
      return made;
    });
    if (id === undefined) return (await meet(key, kind, request))!;
    announce();
    return { status: "created", operation: await get(id) };
  }

  async function say(verb: Verb, id: string, act: Act): Promise<Operation> {
    const { kind } = await get(id);
    await database.transaction(async (tx) => {
      const { state, actor } = (await store.lockOperation(tx, id))!;
      const next = after(verb, state);
      if (next === undefined)
        throw operationErrors.error(
          "TUNTAS_OPERATION_STATE",
          `operation ${id} is ${state}: it cannot ${verb}`,
        );
      if (verb === "approve" && act.actor === actor)
        throw operationErrors.error(
          "TUNTAS_OPERATION_FOUR_EYES",
          `operation ${id} was asked for by ${actor}`,
        );
      await rule(tx, verb, { id, kind }, act);
      const decidedBy = verb === "approve" || verb === "decline" ? act.actor : null;
      await store.moveOperation(tx, id, { state: next, decidedBy });
      await onRecord(tx, id, act, [verb, { from: state }]);
    });
    announce();
    return get(id);
  }

  async function settled(id: string, signal?: AbortSignal): Promise<Operation> {
    const bell = makeBell(waker, operationKey);
    try {
      for (;;) {
        const operation = await get(id);
        if (operation.state !== "running" || signal?.aborted) return operation;
        await bell.wait(lookAgainMs, signal);
      }
    } finally {
      bell.close();
    }
  }

  return {
    register(kind) {
      kinds.set(kind.name, kind);
      announce();
      return () => void (kinds.get(kind.name) === kind && kinds.delete(kind.name));
    },
    preview: async (kind, selection) => kindOf(kind).survey(selection),
    start,
    say,
    async setRate(id, perSecond, act) {
      checkRate(perSecond);
      const { state } = await get(id);
      if (hasEnded(state))
        throw operationErrors.error("TUNTAS_OPERATION_STATE", `operation ${id} is ${state}: it has no rate`);
      await database.transaction(async (tx) => {
        await store.setPerSecond(tx, id, perSecond);
        await onRecord(tx, id, act, ["rate", { perSecond }]);
      });
      return get(id);
    },
    get,
    list: (filter = {}) => store.listOperations(database, filter),
    items: (id, filter = {}) => store.listItems(database, id, filter),
    settled,
  };
}
