// Plain data: what JSON can hold.

type Plain = null | boolean | number | string | readonly Plain[] | { readonly [key: string]: Plain };

/** A copy that shares nothing with the original; a key `__proto__` is data like any other. */
export function copyOf<T extends Plain>(value: T): T;
export function copyOf(value: Plain): Plain {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return (value as readonly Plain[]).map(copyEach);
  const copy: Record<string, Plain> = {};
  for (const key of Object.keys(value)) {
    const field = copyOf((value as { readonly [key: string]: Plain })[key]!);
    if (key !== "__proto__") copy[key] = field;
    else
      Object.defineProperty(copy, key, {
        value: field,
        enumerable: true,
        configurable: true,
        writable: true,
      });
  }
  return copy;
}

const copyEach = (value: Plain): Plain => copyOf(value);
