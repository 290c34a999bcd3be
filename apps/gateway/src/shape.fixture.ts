// Values of the shapes of AWS's operations, for the fuzz of both services: most are odd, and members that name something
// known are mostly right, so that more gets through.
import fc from "fast-check";
import type { Shape } from "./shape.ts";

/** Texts of the member of that name; undefined where it may be any text. */
export type TextsOf = (name: string) => fc.Arbitrary<string> | undefined;

export function valuesOf(
  shape: Shape,
  texts: { readonly odd: fc.Arbitrary<string>; readonly known: TextsOf },
  name = "",
): fc.Arbitrary<unknown> {
  switch (shape.kind) {
    case "string": {
      const { oneOf } = shape.rule;
      return texts.known(name) ?? (oneOf ? fc.oneof(fc.constantFrom(...oneOf), texts.odd) : texts.odd);
    }
    case "integer":
      return fc.oneof(fc.integer({ min: -1, max: 12 }), fc.maxSafeInteger());
    case "float":
      return fc.double({ min: -1, max: 101, noNaN: true });
    case "boolean":
      return fc.boolean();
    case "blob":
      return fc.base64String({ maxLength: 12 });
    case "list":
      return fc.array(valuesOf(shape.of, texts), { maxLength: 3 });
    case "map":
      return fc.dictionary(texts.odd, valuesOf(shape.of, texts), { maxKeys: 3 });
    case "structure": {
      const members = Object.fromEntries(
        Object.entries(shape.members).map(([key, member]) => [key, valuesOf(member, texts, key)]),
      );
      const anything = fc.record(members, { requiredKeys: [] });
      const requiredKeys = [...shape.required];
      return fc.oneof({ weight: 4, arbitrary: fc.record(members, { requiredKeys }) }, anything);
    }
  }
}
