// Who calls, and may they? Where keys are configured, or others than this machine can call, each request must be signed
// with one; its account is the key's, and the key's scopes say what it may do. Else a request is believed: see identity.ts.
import { covers, isLoopback, type Access, type Key } from "tuntas/access";
import type { Scope } from "tuntas/queue";
import { identify } from "./identity.ts";
import {
  isSignedWith,
  readClaim,
  signingKey,
  untimely,
  type Claim,
  type SignedRequest,
} from "./signature.ts";
import type { Service, Subject } from "./wire.ts";
import { genericErrors, WireError } from "./wire.ts";

export interface Caller {
  readonly scope: Scope;
  /** Undefined where nobody has to have one. */
  readonly key: Key | undefined;
}

export interface Authentication {
  /** Errors: MissingAuthenticationToken, IncompleteSignature, InvalidClientTokenId, SignatureDoesNotMatch. */
  authenticate(request: SignedRequest): Promise<Caller>;
  /** Errors: AccessDenied. */
  authorize(caller: Caller, act: Act): void;
}

export interface Act {
  readonly service: Service["prefix"];
  readonly action: string;
  readonly subjects: readonly Subject[];
}

const keysMax = 1000;

/** Signing keys, which are the same all day. */
function makeSigningKeys(): (secret: string, claim: Claim) => Buffer {
  const known = new Map<string, Buffer>();
  return (secret, { keyId, scope }) => {
    const slot = `${keyId} ${scope} ${secret}`;
    const found = known.get(slot);
    if (found) return found;
    if (known.size >= keysMax) known.clear();
    const made = signingKey(secret, scope);
    known.set(slot, made);
    return made;
  };
}

/** What the key may not touch. It works on its own account, and on what its scopes cover there; of several, on each. */
function findDenied(
  { account, scopes }: Key,
  { service, action, subjects }: Act,
): Partial<Subject> | undefined {
  const all: readonly Partial<Subject>[] = subjects.length > 0 ? subjects : [{}];
  return all.find(
    ({ name: resource, account: owner = account }) =>
      owner !== account || !covers(scopes, { service, action, resource }),
  );
}

export function makeAuthentication({ keys }: Pick<Access, "keys">, host: string): Authentication {
  const keyOf = makeSigningKeys();
  const isPublic = !isLoopback(host);

  async function ofClaim(request: SignedRequest, claim: Claim): Promise<Caller> {
    const found = await keys.find(claim.keyId);
    if (!found)
      throw new WireError(genericErrors.unknownKey, "The security token included in the request is invalid.");
    const late = untimely(claim, Date.now());
    if (late !== undefined) throw new WireError(genericErrors.wrongSignature, late);
    if (!isSignedWith(keyOf(found.secret, claim), request, claim)) {
      throw new WireError(
        genericErrors.wrongSignature,
        "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details.",
      );
    }
    const region = claim.scope.split("/")[1]!;
    return { scope: { account: found.key.account, region }, key: found.key };
  }

  return {
    async authenticate(request) {
      const { headers, url } = request;
      if (!isPublic && !(await keys.exist())) return { scope: identify(headers, url), key: undefined };
      const claim = readClaim(request);
      if (claim === "none")
        throw new WireError(genericErrors.missingToken, "Request is missing Authentication Token");
      if (claim === "incomplete") {
        throw new WireError(
          genericErrors.incompleteSignature,
          "Authorization header requires 'Credential', 'Signature', 'SignedHeaders' with host, and a date.",
        );
      }
      return ofClaim(request, claim);
    },
    authorize({ key }, act) {
      if (!key) return;
      const denied = findDenied(key, act);
      if (!denied) return;
      const { name, account = key.account } = denied;
      const of = account === key.account ? "" : ` of account ${account}`;
      const on = name === undefined ? "" : ` on ${name}${of}`;
      throw new WireError(
        genericErrors.accessDenied,
        `Key ${key.id} (${key.name}) is not authorized to perform: ${act.service}:${act.action}${on}`,
      );
    },
  };
}
