// The workflow of the processes that are killed, and of the test that goes on after them.
import { workflow } from "tuntas";

export const killed = (name, schema, meanwhile) =>
  workflow(name, {
    definition: { StartAt: "Pay", States: { Pay: { Type: "Task", Resource: "Pay", End: true } } },
    tasks: {
      async Pay({ id }, { tx }) {
        await tx.query(`insert into ${schema}.effect (id) values ($1)`, [id]);
        await meanwhile(id);
        return { paid: id };
      },
    },
  });
