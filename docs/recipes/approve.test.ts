// The recipe's code runs as it stands, against the built package, in a database of its own.
import { afterAll, beforeAll, expect, test } from "vitest";
import { openKitchen, type Kitchen } from "./kitchen.fixture.ts";

let kitchen: Kitchen;
beforeAll(async () => void (kitchen = await openKitchen("approve")));
afterAll(() => kitchen.close());

test("two sign, the requester cannot, and the payment is marked with the decision", async () => {
  const recipe = await kitchen.recipe("approve");
  const { client, url } = kitchen;
  await client.query(
    "create table payments (id text primary key, status text); insert into payments values ('p1', 'WAITING')",
  );
  const running = await recipe.start(recipe.default, { databaseUrl: url });
  try {
    await recipe.payment.start({ paymentId: "p1", requestedBy: "ana" }, { name: "p1" });
    const ben = { name: "ben", roles: ["treasurer"] };
    await expect.poll(() => recipe.inboxOf(running.platform, ben)).toHaveLength(1);
    const [{ id }] = await recipe.inboxOf(running.platform, ben);
    const sign = (person: string) =>
      recipe.sign(running.platform, id, { name: person, roles: ["treasurer"] });
    await expect(sign("ana")).rejects.toMatchObject({ code: "TUNTAS_APPROVAL_OWN" });
    expect(await sign("ben")).toMatchObject({ status: "signed" });
    expect((await client.query("select status from payments")).rows).toEqual([{ status: "WAITING" }]);
    expect(await sign("eve")).toMatchObject({ status: "decided" });
    expect((await client.query("select status from payments")).rows).toEqual([{ status: "approved" }]);
    const status = async () => (await client.query("select status from tuntas.execution")).rows[0].status;
    await expect.poll(status).toBe("SUCCEEDED");
  } finally {
    await running.stop();
  }
});
