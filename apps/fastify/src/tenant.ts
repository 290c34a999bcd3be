// Whose a request is, and how many of them its tenant may make: over all processes of the service, by one row of the database.
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Platform } from "tuntas";
import { isTenantName, makeRateGate } from "tuntas/access";
import { serviceName } from "tuntas/measure";
import { httpErrors, type TuntasHttpOptions } from "./contract.ts";

export interface TenantParts extends Pick<TuntasHttpOptions, "tenantOf" | "tenantRates"> {
  readonly platform: Pick<Platform, "database" | "log">;
  readonly onRefused: () => void;
}

const nobody = (named: string | undefined): Error => {
  const got = named === undefined ? "none" : JSON.stringify(named.slice(0, 128));
  return httpErrors.error("TUNTAS_HTTP_TENANT", `expected a request to name its tenant, got ${got}`);
};

function gateOf({ tenantOf, tenantRates: rates, platform }: TenantParts) {
  if (!rates) return undefined;
  if (!tenantOf)
    throw httpErrors.error(
      "TUNTAS_HTTP_OPTION",
      "tenantRates: expected tenantOf beside it, which says whose a request is",
    );
  return makeRateGate({ ...platform, service: serviceName(), rates });
}

/** Adds `request.tenant`, refuses what names nobody, and what is more than its tenant may ask. Errors: TUNTAS_HTTP_OPTION. */
export function knowTenants(server: FastifyInstance, parts: TenantParts): void {
  const { tenantOf, onRefused } = parts;
  const gate = gateOf(parts);
  server.decorateRequest("tenant", undefined);
  if (!tenantOf) return;

  function know(request: FastifyRequest): string | undefined {
    const tenant = tenantOf!(request);
    if (tenant !== undefined && !isTenantName(tenant)) throw nobody(tenant);
    if (tenant !== undefined) {
      request.tenant = tenant;
      request.log = request.log.child({ tenant });
    }
    return tenant;
  }

  server.addHook("onRequest", async (request, reply) => {
    const { shed, tenant: isNeeded } = request.routeOptions.config;
    if (shed === false) return;
    const tenant = know(request);
    if (isNeeded === false || request.is404) return;
    if (tenant === undefined) throw nobody(tenant);
    const admission = await gate?.admit(tenant);
    if (admission?.status !== "refused") return;
    onRefused();
    const seconds = Math.max(1, Math.ceil(admission.againMs / 1000));
    reply.header("retry-after", String(seconds));
    throw httpErrors.error(
      "TUNTAS_HTTP_TENANT_RATE",
      `${tenant} makes more requests than it may; its next in ${seconds} s`,
    );
  });
}
