// What a caller sees of access: roles, acts, who is asking, and the error codes.
import { catalogue } from "../core/error.ts";

export const roles = ["viewer", "operator", "approver", "admin"] as const;
export type Role = (typeof roles)[number];

/** Who asks, and how that is known. */
export interface Who {
  /** A user's or a key's name; `local` for whoever sits at the machine. */
  readonly name: string;
  readonly role: Role;
  readonly via: "loopback" | "session" | "key";
  /** The address that the request came from. */
  readonly from: string;
}

export interface User {
  readonly name: string;
  readonly role: Role;
  readonly createdAtMs: number;
  readonly passwordSetAtMs: number;
  readonly signedInAtMs: number | null;
}

export interface Session {
  readonly user: string;
  readonly role: Role;
  readonly expiresAtMs: number;
}

export interface Key {
  readonly id: string;
  readonly name: string;
  /** The 12-digit account whose queues and machines the key works on. */
  readonly account: string;
  /** What it may do: `sqs:SendMessage@order-*`, `states:*`, `console:viewer`. */
  readonly scopes: readonly string[];
  readonly createdBy: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
  readonly revokedAtMs: number | null;
}

/** A new key with its secret, which nobody can read again. */
export interface NewKey extends Key {
  readonly secret: string;
}

export type SignIn =
  | { readonly status: "signed in"; readonly token: string; readonly session: Session }
  | { readonly status: "refused" }
  | { readonly status: "limited"; readonly retryAfterSeconds: number };

/** One act, as the record keeps it. */
export interface AuditEntry {
  readonly actor: string;
  /** Where from: an address, or `command line`. */
  readonly from: string;
  readonly action: string;
  readonly subject: string;
  readonly reason?: string | undefined;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}

/** An act as it stands on the record. */
export interface AuditRecord {
  readonly id: string;
  readonly atMs: number;
  readonly actor: string;
  readonly action: string;
  readonly subject: string;
  readonly reason: string | null;
  /** JSON text. */
  readonly details: string;
}

/** Which acts; all that is given must hold. */
export interface AuditFilter {
  /** Part of actor, action, subject or reason. */
  readonly search?: string | undefined;
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly subject?: string | undefined;
}

export const accessErrors = catalogue({
  TUNTAS_ACCESS_RATE: {
    meaning: "A rate of requests is none.",
    remedy:
      "Give perSecond as a number from 0.001 to 100000, and burst, where it is said, as a whole one from 1.",
  },
  TUNTAS_ACCESS_OPEN: {
    meaning: "The server was to listen beyond this machine while anybody who reaches it could do everything.",
    remedy:
      "Add a person with `tuntas user add NAME --role admin` or a key with `tuntas key create NAME --scope SCOPE`, or listen on 127.0.0.1.",
  },
  TUNTAS_ACCESS_UNKNOWN: {
    meaning: "Nobody is signed in, or the session has ended.",
    remedy: "Sign in, or send a key.",
  },
  TUNTAS_ACCESS_DENIED: {
    meaning: "The role or the key does not allow this act.",
    remedy: "Ask an admin for a role or a key with the scope that the message names.",
  },
  TUNTAS_ACCESS_FORGED: {
    meaning: "A request that changes something did not come from the console's own pages.",
    remedy: "Send the session's token in x-tuntas-csrf, from a page of the same origin.",
  },
  TUNTAS_ACCESS_HOST: {
    meaning: "A server on this machine alone was asked under a name that is not this machine's.",
    remedy: "Use http://localhost or http://127.0.0.1.",
  },
  TUNTAS_ACCESS_LIMITED: {
    meaning: "There were too many tries to sign in.",
    remedy: "Wait for the time that Retry-After says.",
    retryable: true,
  },
  TUNTAS_USER_INVALID: {
    meaning: "The name, role or password of a user is not one.",
    remedy:
      "Take a name of 1 to 64 letters, digits and .@_-, a role of viewer, operator, approver or admin, and a password of 12 to 256 characters.",
  },
  TUNTAS_USER_EXISTS: {
    meaning: "There is a user of that name.",
    remedy: "Take another name, or set that user's role or password.",
  },
  TUNTAS_USER_MISSING: {
    meaning: "There is no user of that name.",
    remedy: "See the names with `tuntas user list`.",
  },
  TUNTAS_USER_LAST_ADMIN: {
    meaning: "Nobody would be left who may manage users.",
    remedy: "Give another user the role admin first.",
  },
  TUNTAS_KEY_INVALID: {
    meaning: "The name, account, scopes or expiry of a key are not what a key has.",
    remedy:
      "Give a name, a 12-digit account, and scopes such as sqs:SendMessage@order-work, sqs:*, states:*, scheduler:* or console:viewer.",
  },
  TUNTAS_KEY_UNKNOWN: {
    meaning: "There is no such key.",
    remedy: "See the keys with `tuntas key list`.",
  },
});

/** What a payload is, as code declares it. */
export interface Payload {
  /** Paths of the fields that only some may see. */
  readonly sensitive: readonly string[];
  /** JSON text of its JSON Schema; null where it cannot be said as one. */
  readonly schema: string | null;
}

export type PayloadKind = "queue" | "workflow" | "stream" | "batch";
