export const machineHref = (name: string): string => `/workflows/${encodeURIComponent(name)}`;
export const runHref = (arn: string): string => `/workflows/run/${encodeURIComponent(arn)}`;
export const tryHref = (machine: string): string => `/try?machine=${encodeURIComponent(machine)}#execution`;
