import { askByHand, effectById, ledgerErrors, type Provider } from "tuntas/ledger";
import type { Command } from "../../command.ts";
import { declaredIn, named } from "../../declared.ts";
import { actOf, actOptions, withPlatform } from "../../session.ts";

export const effectAsk: Command = {
  name: "effect ask",
  summary:
    "Asks the provider what became of an unknown call, the way that the application's file declares it (`reconcile`).",
  arguments: [
    { name: "ID", required: true },
    { name: "FILE", required: true },
  ],
  options: actOptions,
  examples: [['tuntas effect ask 17 app.mjs --reason "the bank is back"', "settle it, if the bank knows"]],
  no: "the provider cannot say, or there is no such unknown call",
  async run(call) {
    const [id, act] = [call.rowId(0), actOf(call)];
    const providers = await declaredIn<Provider>(call.argument(1), "provider");
    return withPlatform(async ({ database }) => {
      const row = await effectById(database, id);
      if (!row) throw ledgerErrors.error("TUNTAS_EFFECT_MISSING", `side effect ${id} does not exist`);
      const nameOf = ({ options: { name } }: Provider) => name;
      const provider = named(call, providers, { name: row.provider, nameOf, what: "provider" });
      const asked = await askByHand(database, provider, id, act);
      const { status } = asked;
      const text =
        status === "settled"
          ? `${row.provider} says: ${asked.row.state}`
          : `${row.provider} cannot say what became of it; a person may, with \`tuntas effect settle ${id}\``;
      return { document: asked, text, status: status === "settled" ? 0 : 1 };
    });
  },
};
