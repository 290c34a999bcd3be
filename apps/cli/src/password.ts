// A password never stands on the command line, where other users of the machine can read it: it comes on standard input,
// or is typed where there is a terminal, unseen.
import { emitKeypressEvents } from "node:readline";
import { text } from "node:stream/consumers";

const backspace = new Set(["backspace", "delete"]);

/** Types nothing back; Enter ends it, Ctrl-C gives up. */
function typed(prompt: string): Promise<string> {
  const { stdin, stderr } = process;
  stderr.write(prompt);
  emitKeypressEvents(stdin);
  stdin.setRawMode(true);
  return new Promise((resolve, reject) => {
    let password = "";
    const end = (settle: () => void) => {
      stdin.off("keypress", onKey);
      stdin.setRawMode(false);
      stdin.pause();
      stderr.write("\n");
      settle();
    };
    function onKey(char: string | undefined, key: { name?: string; ctrl?: boolean }): void {
      if (key.ctrl && key.name === "c") return end(() => reject(new Error("given up")));
      if (key.name === "return" || key.name === "enter") return end(() => resolve(password));
      if (key.name !== undefined && backspace.has(key.name)) password = password.slice(0, -1);
      else if (char !== undefined && !key.ctrl) password += char;
    }
    stdin.on("keypress", onKey);
    stdin.resume();
  });
}

/** The password: standard input without its last line break, or what is typed on the terminal. */
export const readPassword = async (): Promise<string> =>
  process.stdin.isTTY ? typed("password: ") : (await text(process.stdin)).replace(/\r?\n$/, "");
