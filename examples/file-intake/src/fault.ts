// What is wrong with a file, whoever tries again: the stage that found it, and what it found.

export type Stage = "check" | "parse" | "transform" | "validate";

export class FileFault extends Error {
  readonly stage: Stage;
  readonly code: string;

  constructor(stage: Stage, code: string, message: string) {
    super(message);
    this.stage = stage;
    this.code = `${stage.toUpperCase()}_${code}`;
  }
}
