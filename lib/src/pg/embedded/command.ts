// Runs one of PostgreSQL's programs (or the system's) to its end and keeps what it said. PostgreSQL's programs get a
// small environment: PG* variables of the caller would change what they do.
import { execFile } from "node:child_process";
import { parse } from "node:path";

export interface Account {
  readonly uid: number;
  readonly gid: number;
}

export interface CommandResult {
  readonly ok: boolean;
  /** What it wrote to both outputs, or why it did not even start. */
  readonly output: string;
}

const passedOn = ["PATH", "SystemRoot", "SystemDrive", "windir", "TEMP", "TMP", "TMPDIR", "LD_LIBRARY_PATH"];

export function plainEnvironment(): NodeJS.ProcessEnv {
  const kept = passedOn.flatMap((name) =>
    process.env[name] === undefined ? [] : [[name, process.env[name]]],
  );
  return { ...Object.fromEntries(kept), LC_ALL: "C" };
}

/** Runs from the root directory, as another account where one is given. */
export function runCommand(file: string, args: readonly string[], account?: Account): Promise<CommandResult> {
  const options = {
    cwd: parse(process.execPath).root,
    env: plainEnvironment(),
    windowsHide: true,
    ...account,
  };
  return new Promise((resolve) => {
    execFile(file, args, options, (error, stdout, stderr) => {
      const output = `${stdout}${stderr}`.trim();
      resolve({ ok: error === null, output: output === "" && error !== null ? error.message : output });
    });
  });
}
