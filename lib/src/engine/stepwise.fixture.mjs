// For child processes of tests: every database statement, commit and outside call is a step, and the process kills
// itself (-9) at the step that it was told. Runs the built code.
import { writeSync } from "node:fs";
import { openDatabase } from "../../dist/pg/database.js";

/** The steps of this process, killed at the `killAt`-th, or at the first of that name. */
export function stepping(killAt) {
  let step = 0;

  /** `last` is still done by the one that dies here. */
  function at(name, last) {
    if (![name, String(step++)].includes(String(killAt))) return;
    last?.();
    writeSync(1, name);
    process.kill(process.pid, "SIGKILL");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  }

  const label = (text) =>
    /(insert into|update|delete from|from) tuntas\.\w+/.exec(text)?.[0] ?? text.slice(0, 40);

  const stepped = (on) => async (statement, values) => {
    at(`before ${label(statement.text)}`);
    const rows = await on.run(statement, values);
    at(`after ${label(statement.text)}`);
    return rows;
  };

  async function open(url, schema) {
    const real = await openDatabase({ url, schema, connectionsMax: 3 });
    const transaction = async (work) => {
      const value = await real.transaction(async (tx) => {
        const came = await work({ run: stepped(tx), client: tx.client });
        at("before commit");
        return came;
      });
      at("after commit");
      return value;
    };
    return { ...real, run: stepped(real), transaction };
  }

  return { at, open };
}

/**
 * Makes a step of every write to one of the tables, and of every commit of such writes, whoever in the process sends it:
 * for scripts that run a whole platform. Of statements that go out together, whoever dies has sent those before.
 */
export function watchWrites(Client, at, tables) {
  const write = new RegExp(`(insert into|update|delete from) [\\w"]+\\.(${tables.join("|")})\\b`);
  const wrote = new WeakSet();
  const { query } = Client.prototype;

  function look(client, text, last) {
    const found = write.exec(text);
    if (found) {
      at(`before ${found[1]} ${found[2]}`, last);
      wrote.add(client);
    }
    if (text === "commit" && wrote.delete(client)) at("before commit", last);
  }

  function sendPart(client, burst, count) {
    burst.statements = burst.statements.slice(0, count);
    query.call(client, burst);
    const { stream } = client.connection;
    while (stream.writableCorked > 0) stream.uncork();
  }

  Client.prototype.query = function (config, ...rest) {
    const { statements } = config ?? {};
    if (statements)
      statements.forEach(({ text }, index) => look(this, text, () => sendPart(this, config, index)));
    else look(this, typeof config === "string" ? config : (config?.text ?? ""));
    return query.call(this, config, ...rest);
  };
}
