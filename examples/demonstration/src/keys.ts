// Single keys at a terminal. Raw mode takes Ctrl-C from the terminal, so it is passed on from here.
export interface Key {
  readonly key: string;
  readonly meaning: string;
  readonly press: () => unknown;
}

const ctrlC = "\u0003";

/** Listens until it is told to end; does nothing where there is no terminal. */
export function listenToKeys(keys: readonly Key[], onFailure: (cause: unknown) => void): () => void {
  const { stdin } = process;
  if (!stdin.isTTY) return () => undefined;
  const byKey = new Map(keys.map((each) => [each.key, each]));
  const take = (chunk: Buffer): void => {
    for (const character of chunk.toString()) {
      if (character === ctrlC) process.kill(process.pid, "SIGINT");
      else
        Promise.resolve()
          .then(() => byKey.get(character)?.press())
          .catch(onFailure);
    }
  };
  stdin.setRawMode(true);
  stdin.on("data", take);
  stdin.resume();
  return () => {
    stdin.off("data", take);
    stdin.setRawMode(false);
    stdin.pause();
  };
}

export const list = (keys: readonly Key[]): string =>
  keys.map(({ key, meaning }) => `  ${key}  ${meaning}`).join("\n");
