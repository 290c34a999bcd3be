import type { TestPlatform } from "tuntas/testing";

/** Runs a query on a connection of the test's own, with `tuntas.` meaning the kit's schema. */
export async function ask<R = any>(kit: TestPlatform, text: string, values: unknown[] = []): Promise<R[]> {
  const client = await kit.platform.database.dedicatedClient();
  try {
    const { rows } = await client.query(text.replaceAll(/\btuntas\./g, `${kit.schema}.`), values);
    return rows;
  } finally {
    await client.end();
  }
}
