// Signing in and out. Everything else is asked by somebody who is known.
import type { IncomingMessage, ServerResponse } from "node:http";
import { may, acts, endedCookie, forgeryOf, sessionCookie, tokenOf, accessErrors } from "tuntas/access";
import type { Admission } from "tuntas/access";
import type { SessionView } from "../api/index.ts";
import { makeFields } from "./fields.ts";
import { writeJson } from "./http/answer.ts";
import { readJson } from "./http/body.ts";
import type { Needs } from "./needs.ts";

/** Any value does where nobody signs in: what no form can send is the header itself. */
const tokenOfLocal = "local";

export function viewOf({ version, links }: Needs, { who, csrf }: Admission): SessionView {
  return {
    name: who.name,
    role: who.role,
    signedIn: who.via === "session",
    acts: acts.filter((act) => may(who.role, act)),
    token: csrf ?? tokenOfLocal,
    version,
    links: links(),
  };
}

export interface Door {
  signIn(request: IncomingMessage, response: ServerResponse): Promise<void>;
  signOut(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

const fromOf = ({ socket }: IncomingMessage): string => socket.remoteAddress ?? "unknown";

function refuseForged(request: IncomingMessage): void {
  const reason = forgeryOf({ method: "POST", headers: request.headers }, undefined);
  if (reason) throw accessErrors.error("TUNTAS_ACCESS_FORGED", `signing in was refused: ${reason}`);
}

export function makeDoor({ platform }: Needs, secure: boolean): Door {
  const { sessions } = platform.access;
  return {
    async signIn(request, response) {
      refuseForged(request);
      const fields = makeFields(await readJson(request));
      const given = { name: fields.text("name"), password: fields.text("password"), from: fromOf(request) };
      const answer = await sessions.signIn(given);
      if (answer.status === "limited") {
        response.setHeader("retry-after", answer.retryAfterSeconds);
        throw accessErrors.error("TUNTAS_ACCESS_LIMITED", `try again in ${answer.retryAfterSeconds} s`);
      }
      if (answer.status === "refused")
        throw accessErrors.error("TUNTAS_ACCESS_UNKNOWN", "the name or the password is not right");
      const headers = { "set-cookie": sessionCookie(answer.token, { secure }) };
      writeJson(response, { status: "signed in" }, { headers });
    },
    async signOut(request, response) {
      refuseForged(request);
      const token = tokenOf(request.headers, { secure });
      if (token !== undefined) await sessions.signOut(token, fromOf(request));
      writeJson(response, { status: "signed out" }, { headers: { "set-cookie": endedCookie({ secure }) } });
    },
  };
}
