import type { AuditRecord } from "tuntas/access";
import type { Paged } from "./basics.ts";

export type { AuditRecord };

export interface RecordReads {
  audit: {
    query: {
      /** Part of actor, action, subject or reason. */
      readonly search?: string;
      readonly actor?: string;
      readonly action?: string;
      readonly subject?: string;
      readonly after?: string;
    };
    answer: Paged<AuditRecord>;
  };
}
