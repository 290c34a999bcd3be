// Who calls and where: the account and region of the request's SigV4 credential scope. A 12-digit access key id is the
// account itself, any other is the default account. For where nobody has to have a key: nothing is checked here.
import type { IncomingHttpHeaders } from "node:http";
import type { Scope } from "tuntas/queue";
import { defaultScope } from "tuntas/queue";
import { genericErrors, WireError } from "./wire.ts";

const inHeader = /[,\s]Credential=([^,\s]+)/;
const inQuery = /[?&]X-Amz-Credential=([^&]+)/i;
const scopeForm = /^([^/]+)\/\d{8}\/([a-z0-9-]{1,32})\/[a-z0-9-]+\/aws4_request$/;
const accountForm = /^\d{12}$/;

function toScope(credential: string): Scope {
  const [, keyId, region] = scopeForm.exec(credential) ?? [];
  if (keyId === undefined || region === undefined) {
    throw new WireError(
      genericErrors.incompleteSignature,
      "Credential must be of the form ACCESS_KEY_ID/YYYYMMDD/REGION/SERVICE/aws4_request.",
    );
  }
  return { account: accountForm.test(keyId) ? keyId : defaultScope.account, region };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

// The same client sends the same credential with each request of a day.
const known = new Map<string, Scope>();
const knownMax = 1000;

function scopeOf(credential: string): Scope {
  const before = known.get(credential);
  if (before) return before;
  const scope = toScope(credential);
  if (known.size >= knownMax) known.clear();
  known.set(credential, scope);
  return scope;
}

/** Errors: IncompleteSignature where there is a credential that cannot be read. */
export function identify(headers: IncomingHttpHeaders, url: string): Scope {
  const { authorization } = headers;
  if (authorization?.startsWith("AWS4-")) return scopeOf(inHeader.exec(authorization)?.[1] ?? "");
  const presigned = inQuery.exec(url)?.[1];
  return presigned === undefined ? defaultScope : scopeOf(decode(presigned));
}
