// What a browser loads before it shows anything, and that nothing of it comes from elsewhere.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";

const folder = fileURLToPath(new URL("../../../../lib/dist/apps/console/web/", import.meta.url));
const read = (name: string): Buffer => readFileSync(folder + name);
const firstBytesMax = 400_000;

/** The page itself, what it names, and what its first script imports before it runs. */
function loadedFirst(): string[] {
  const page = read("index.html").toString();
  const named = [...page.matchAll(/(?:src|href)="\/console\/([^"]+)"/g)].map((match) => match[1]!);
  return ["index.html", ...named];
}

test(`what the first page loads has less than ${firstBytesMax / 1000} kB`, () => {
  const bytes = loadedFirst().reduce((sum, name) => sum + gzipSync(read(name)).length, 0);
  expect(bytes).toBeGreaterThan(10_000);
  expect(bytes).toBeLessThan(firstBytesMax);
});

test("every page is a file of its own, loaded when it is looked at", () => {
  const scripts = readdirSync(`${folder}assets`).filter((name) => name.endsWith(".js"));
  expect(scripts.length).toBeGreaterThan(8);
  expect(loadedFirst().filter((name) => name.endsWith(".js"))).toHaveLength(1);
});

test("the page has no inline script and no inline style, which its own policy would forbid", () => {
  const page = read("index.html").toString();
  expect(page).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son[a-z]+=|style=/);
});

test("nothing is fetched from elsewhere", () => {
  const files = readdirSync(folder, { recursive: true }).map(String);
  const styles = files.filter((name) => name.endsWith(".css")).map((name) => read(name).toString());
  expect(styles.join("\n")).not.toMatch(/@import|url\((?!data:|"?\/console\/)/);
  expect(read("index.html").toString()).not.toMatch(/https?:\/\//);
});
