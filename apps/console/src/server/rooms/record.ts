// The record: who did what to which thing, and why.
import { demand } from "tuntas/access";
import type { RecordReads } from "../../api/index.ts";
import type { Needs, ReadsOf } from "../needs.ts";
import { paged } from "./queues.ts";

const pageMax = 200;

export const recordReads = ({ platform: { access } }: Needs): ReadsOf<keyof RecordReads> => ({
  async audit(query, who) {
    demand(who, "audit.read");
    const before = query.optionalId("after");
    const filter = {
      search: query.optional("search"),
      actor: query.optional("actor"),
      action: query.optional("action"),
      subject: query.optional("subject"),
    };
    return paged(await access.record(filter, { before, limit: pageMax + 1 }), pageMax, (last) => last.id);
  },
});
