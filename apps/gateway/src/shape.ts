// What an operation takes and answers, as data: both wire protocols read and write by these shapes, and TypeScript
// derives its types from them. Names of list and map elements are those of the Query protocol, which flattens them.

export type Shape =
  | { readonly kind: "string" }
  | { readonly kind: "integer" }
  | { readonly kind: "float" }
  | { readonly kind: "boolean" }
  /** Bytes, kept as the base64 text that both protocols carry. */
  | { readonly kind: "blob" }
  | ListShape
  | MapShape
  | Structure;

export interface ListShape<Of extends Shape = Shape> {
  readonly kind: "list";
  readonly element: string;
  readonly of: Of;
}

export interface MapShape<Of extends Shape = Shape> {
  readonly kind: "map";
  readonly element: string;
  readonly key: string;
  readonly value: string;
  readonly of: Of;
}

export type Members = Readonly<Record<string, Shape>>;

export interface Structure<M extends Members = Members> {
  readonly kind: "structure";
  readonly members: M;
}

export const string = { kind: "string" } as const;
export const integer = { kind: "integer" } as const;
export const float = { kind: "float" } as const;
export const boolean = { kind: "boolean" } as const;
export const blob = { kind: "blob" } as const;

export const list = <const Of extends Shape>(element: string, of: Of): ListShape<Of> => ({
  kind: "list",
  element,
  of,
});

export const structure = <const M extends Members>(members: M): Structure<M> => ({
  kind: "structure",
  members,
});

/** A map whose entries travel as `element.N.key` and `element.N.value` in the Query protocol. */
export const map = <const Of extends Shape>(
  [element, key, value]: readonly [string, string, string],
  of: Of,
): MapShape<Of> => ({ kind: "map", element, key, value, of });

/** Whether the text is base64 as both protocols carry it, padded. */
export const isBase64 = (text: string): boolean =>
  text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);

/** The TypeScript type of a shape's values. */
export type ValueOf<S> = S extends { kind: "string" | "blob" }
  ? string
  : S extends { kind: "integer" | "float" }
    ? number
    : S extends { kind: "boolean" }
      ? boolean
      : S extends ListShape<infer Of>
        ? readonly ValueOf<Of>[]
        : S extends MapShape<infer Of>
          ? Readonly<Record<string, ValueOf<Of>>>
          : S extends Structure<infer M>
            ? { readonly [Name in keyof M]?: ValueOf<M[Name]> | undefined }
            : never;
