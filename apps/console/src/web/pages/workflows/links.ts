export const machineHref = (name: string): string => `/workflows/${encodeURIComponent(name)}`;
export const runHref = (arn: string): string => `/workflows/run/${encodeURIComponent(arn)}`;
