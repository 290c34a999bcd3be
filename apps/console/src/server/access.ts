// Who asks, and what they may do. Whoever reaches a server that listens on this machine alone sits at this machine.
import type { IncomingMessage } from "node:http";

export interface Who {
  readonly name: string;
  readonly role: string;
}

export interface Access {
  /** Undefined where nobody is signed in. */
  whoIs(request: IncomingMessage): Promise<Who | undefined>;
  may(role: string, act: string): boolean;
}

const local: Who = { name: process.env.USER ?? process.env.USERNAME ?? "local", role: "admin" };

export const localAccess: Access = {
  whoIs: async () => local,
  may: () => true,
};
