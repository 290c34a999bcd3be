// Keys of machines. The ones that live are kept in memory for a few seconds, since every request of an AWS client asks
// for one: a key that is revoked may work that much longer.
import { randomBytes } from "node:crypto";
import type { Sql } from "../pg/contract.ts";
import type { Key, NewKey } from "./contract.ts";
import { accessErrors } from "./contract.ts";
import { isScope } from "./scope.ts";
import { isSame, newKeyId, secretOf, sha256 } from "./secret.ts";
import * as store from "./store.ts";
import type { By } from "./users.ts";

/** A key as whoever checks a request needs it. */
export interface LiveKey {
  readonly key: Key;
  readonly secret: string;
}

export interface KeyRequest {
  readonly name: string;
  /** 000000000000 by default. */
  readonly account?: string | undefined;
  readonly scopes: readonly string[];
  readonly lifeSeconds?: number | undefined;
}

export interface Keys {
  /** Makes a key and shows its secret, once. Errors: TUNTAS_KEY_INVALID. */
  create(request: KeyRequest, by: By): Promise<NewKey>;
  list(): Promise<Key[]>;
  /** Errors: TUNTAS_KEY_UNKNOWN. */
  revoke(id: string, by: By): Promise<void>;
  /** Whether there is any key, so that requests must be signed. */
  exist(): Promise<boolean>;
  find(id: string): Promise<LiveKey | undefined>;
  /** The key of `Authorization: Bearer ID.SECRET`; undefined for none. */
  ofBearer(header: string | undefined): Promise<Key | undefined>;
}

const freshMs = 3000;
const nameForm = /^[A-Za-z0-9.@_-]{1,64}$/;

function check({ name, account = "", scopes, lifeSeconds }: KeyRequest): void {
  const wrong = scopes.find((scope) => !isScope(scope));
  const problem = !nameForm.test(name)
    ? `a name of 1 to 64 letters, digits and .@_-, got ${JSON.stringify(name)}`
    : !/^(\d{12})?$/.test(account)
      ? `an account of 12 digits, got ${JSON.stringify(account)}`
      : scopes.length === 0
        ? "at least one scope"
        : wrong !== undefined
          ? `a scope such as sqs:SendMessage@order-work, got ${JSON.stringify(wrong)}`
          : lifeSeconds !== undefined && !(lifeSeconds >= 1 && lifeSeconds <= 315_360_000)
            ? "a life of 1 s to 10 years"
            : undefined;
  if (problem !== undefined) throw accessErrors.error("TUNTAS_KEY_INVALID", `expected ${problem}`);
}

/** The installation's secret: what the environment gives, else one that is made once and kept in the database. */
function makeInstallation(database: Sql, given: string | undefined): () => Promise<Buffer> {
  let kept: Promise<Buffer> | undefined;
  async function read(): Promise<Buffer> {
    if (given) return sha256(given);
    // Two processes that make one at once: the one that lost sees the other's at its second look.
    const fresh = randomBytes(32);
    return (await store.keepSecret(database, fresh)) ?? (await store.keepSecret(database, fresh))!;
  }
  return () =>
    (kept ??= read().catch((cause: unknown) => {
      kept = undefined;
      throw cause;
    }));
}

export function makeKeys(database: Sql, installationSecret: string | undefined): Keys {
  const installation = makeInstallation(database, installationSecret);
  let known: Promise<ReadonlyMap<string, LiveKey>> | undefined;
  let knownAt = -Infinity;

  async function load(): Promise<ReadonlyMap<string, LiveKey>> {
    const keys = await store.listLiveKeys(database);
    if (keys.length === 0) return new Map();
    const secret = await installation();
    return new Map(keys.map((key) => [key.id, { key, secret: secretOf(secret, key.id) }]));
  }

  function live(): Promise<ReadonlyMap<string, LiveKey>> {
    if (known && performance.now() - knownAt < freshMs) return known;
    knownAt = performance.now();
    return (known = load().catch((cause: unknown) => {
      known = undefined;
      throw cause;
    }));
  }

  return {
    async create(request, by) {
      check(request);
      const { name, account = "000000000000", scopes, lifeSeconds = null } = request;
      const id = newKeyId();
      const secret = secretOf(await installation(), id);
      const fields = {
        id,
        name,
        account,
        scopes,
        lifeSeconds,
        secretHash: sha256(secret),
        createdBy: by.actor,
      };
      const key = await database.transaction(async (tx) => {
        await store.insertAudit(tx, {
          ...by,
          action: "key.create",
          subject: `key ${id}`,
          details: { name, account, scopes },
        });
        return store.insertKey(tx, fields);
      });
      known = undefined;
      return { ...key, secret };
    },
    list: () => store.listKeys(database),
    async revoke(id, by) {
      await database.transaction(async (tx) => {
        if (!(await store.revokeKey(tx, id, by.actor)))
          throw accessErrors.error(
            "TUNTAS_KEY_UNKNOWN",
            `there is no key ${JSON.stringify(id)} that still works`,
          );
        await store.insertAudit(tx, { ...by, action: "key.revoke", subject: `key ${id}` });
      });
      known = undefined;
    },
    exist: async () => (await live()).size > 0,
    find: async (id) => (await live()).get(id),
    async ofBearer(header) {
      const [, id, secret] = /^Bearer\s+([A-Z0-9]{20})\.([A-Za-z0-9_-]{40})$/i.exec(header ?? "") ?? [];
      const found = id === undefined ? undefined : (await live()).get(id);
      return found && isSame(found.secret, secret!) ? found.key : undefined;
    },
  };
}
