// The people: who they are, and how they sign in. Every change of who may do what leaves an audit row in its own
// transaction, and ends the sessions that it concerns.
import type { Sql, Tx } from "../pg/contract.ts";
import type { Role, Session, SignIn, User } from "./contract.ts";
import { accessErrors, roles } from "./contract.ts";
import { hashPassword, isPassword } from "./password.ts";
import { newToken, sha256 } from "./secret.ts";
import * as store from "./store.ts";

/** Who changes something, and from where, for the record. */
export interface By {
  readonly actor: string;
  readonly from: string;
  readonly reason?: string | undefined;
}

export interface Users {
  /** Errors: TUNTAS_USER_INVALID, TUNTAS_USER_EXISTS. */
  add(user: { readonly name: string; readonly role: Role; readonly password: string }, by: By): Promise<void>;
  list(): Promise<User[]>;
  /** Errors: TUNTAS_USER_MISSING, TUNTAS_USER_LAST_ADMIN. */
  remove(name: string, by: By): Promise<void>;
  /** Errors: TUNTAS_USER_INVALID, TUNTAS_USER_MISSING, TUNTAS_USER_LAST_ADMIN. */
  setRole(name: string, role: Role, by: By): Promise<void>;
  /** Errors: TUNTAS_USER_INVALID, TUNTAS_USER_MISSING. */
  setPassword(name: string, password: string, by: By): Promise<void>;
}

const nameForm = /^[A-Za-z0-9.@_-]{1,64}$/;
const passwordLength = { least: 12, most: 256 };

const invalid = (message: string) => accessErrors.error("TUNTAS_USER_INVALID", message);

function checkName(name: string): void {
  if (!nameForm.test(name))
    throw invalid(`expected a name of 1 to 64 letters, digits and .@_-, got ${JSON.stringify(name)}`);
}

function checkRole(role: string): void {
  if (!(roles as readonly string[]).includes(role))
    throw invalid(`expected a role of ${roles.join(", ")}, got ${JSON.stringify(role)}`);
}

function checkPassword(password: string): void {
  const { length } = password;
  if (length < passwordLength.least || length > passwordLength.most)
    throw invalid(
      `expected a password of ${passwordLength.least} to ${passwordLength.most} characters, got ${length}`,
    );
}

const missing = (name: string) =>
  accessErrors.error("TUNTAS_USER_MISSING", `there is no user ${JSON.stringify(name)}`);

/** Holds all users still and sees that an admin is left without this one. */
async function lockWithout(tx: Tx, name: string, staysAdmin: boolean): Promise<void> {
  const all = await store.lockUsers(tx);
  if (!all.some((user) => user.name === name)) throw missing(name);
  const others = all.some((user) => user.role === "admin" && user.name !== name);
  const wasAdmin = all.some((user) => user.role === "admin" && user.name === name);
  if (wasAdmin && !others && !staysAdmin)
    throw accessErrors.error("TUNTAS_USER_LAST_ADMIN", `${name} is the only admin`);
}

/** `onChange` is called after each change of how many there are. */
export function makeUsers(database: Sql, onChange: () => void): Users {
  const noted = (tx: Tx, by: By, action: string, name: string, details?: Record<string, unknown>) =>
    store.insertAudit(tx, { ...by, action, subject: `user ${name}`, details });

  return {
    async add({ name, role, password }, by) {
      checkName(name);
      checkRole(role);
      checkPassword(password);
      const hash = await hashPassword(password);
      await database.transaction(async (tx) => {
        if (!(await store.insertUser(tx, { name, role, password: hash })))
          throw accessErrors.error("TUNTAS_USER_EXISTS", `there is a user ${name}`);
        await noted(tx, by, "user.add", name, { role });
      });
      onChange();
    },
    list: () => store.listUsers(database),
    async remove(name, by) {
      await database.transaction(async (tx) => {
        await lockWithout(tx, name, false);
        await store.removeUser(tx, name);
        await noted(tx, by, "user.remove", name);
      });
      onChange();
    },
    setRole(name, role, by) {
      checkRole(role);
      return database.transaction(async (tx) => {
        await lockWithout(tx, name, role === "admin");
        await store.setRole(tx, name, role);
        await noted(tx, by, "user.role", name, { role });
      });
    },
    async setPassword(name, password, by) {
      checkPassword(password);
      const hash = await hashPassword(password);
      await database.transaction(async (tx) => {
        if (!(await store.setPassword(tx, name, hash))) throw missing(name);
        await noted(tx, by, "user.password", name);
      });
    },
  };
}

export interface Sessions {
  /** Checks name and password. Slow on purpose, limited across all processes, and silent about which of both is wrong. */
  signIn(given: { readonly name: string; readonly password: string; readonly from: string }): Promise<SignIn>;
  /** The session of a cookie's token; undefined where it has ended. */
  find(token: string): Promise<Session | undefined>;
  signOut(token: string, from: string): Promise<void>;
}

const sessionSeconds = 12 * 3600;
const idleSeconds = 3600;
const window = { seconds: 300, ofUserFromAddress: 5, ofAddress: 30, ofUser: 100 };

/** Why a try is not even looked at: seconds until it may come again. */
async function waitOf(database: Sql, name: string, from: string): Promise<number> {
  const limits = new Map([
    [`user ${name} from ${from}`, window.ofUserFromAddress],
    [`from ${from}`, window.ofAddress],
    [`user ${name}`, window.ofUser],
  ]);
  const counted = await store.countTry(database, [...limits.keys()], window.seconds);
  const over = counted.filter(({ subject, tries }) => tries > limits.get(subject)!);
  return Math.ceil(Math.max(0, ...over.map(({ endsInSeconds }) => endsInSeconds)));
}

export function makeSessions(database: Sql): Sessions {
  const noted = (actor: string, from: string, action: string) =>
    store.insertAudit(database, { actor, from, action, subject: `user ${actor}` });

  async function begin(name: string, from: string): Promise<SignIn> {
    const token = newToken();
    const session = await store.insertSession(database, {
      hash: sha256(token),
      user: name,
      from,
      seconds: sessionSeconds,
    });
    if (!session) return { status: "refused" };
    await store.forgetTries(database, `user ${name} from ${from}`, window.seconds);
    await noted(name, from, "session.begin");
    return { status: "signed in", token, session };
  }

  return {
    async signIn({ name, password, from }) {
      const asked = nameForm.test(name) ? name : "(no name)";
      const retryAfterSeconds = await waitOf(database, asked, from);
      if (retryAfterSeconds > 0) return { status: "limited", retryAfterSeconds };
      const given = password.slice(0, passwordLength.most);
      if (await isPassword(given, await store.passwordOf(database, asked))) return begin(asked, from);
      await noted(asked, from, "session.refused");
      return { status: "refused" };
    },
    find: (token) => store.findSession(database, sha256(token), idleSeconds),
    async signOut(token, from) {
      const name = await store.endSession(database, sha256(token));
      if (name !== undefined) await noted(name, from, "session.end");
    },
  };
}
