// Regular expressions of filters. They run in the engine's thread, where nobody can end them, so one is taken only if it can be
// said beforehand how long it may take: what is repeated must match in one way, and each repetition that could end at
// several places multiplies the steps.

/** A repetition that may end anywhere: as many ways as the text has characters. */
interface Cost {
  /** Ways in which it can match whatever the text. */
  readonly ways: number;
  /** Repetitions without an end that could begin and end anywhere. */
  readonly open: number;
}

const single: Cost = { ways: 1, open: 0 };
const times = (a: Cost, b: Cost): Cost => ({ ways: a.ways * b.ways, open: a.open + b.open });
const plus = (a: Cost, b: Cost): Cost => ({ ways: a.ways + b.ways, open: Math.max(a.open, b.open) });

const nestingMax = 20;

export class Pattern {
  private readonly expression: RegExp;
  private readonly cost: Cost;

  constructor(expression: RegExp, cost: Cost) {
    this.expression = expression;
    this.cost = cost;
  }

  /** The most that a match of this text can take. */
  stepsFor(text: string): number {
    return this.cost.ways * (text.length + 1) ** Math.max(1, this.cost.open);
  }

  test(text: string): boolean {
    return this.expression.test(text);
  }
}

/** A pattern that must match the whole text; undefined where it is none, or could take for ever. */
export function readPattern(source: string, flags: string): Pattern | undefined {
  try {
    const expression = new RegExp(`^(?:${source})$`, flags);
    const reader = new Reader(source);
    const cost = reader.alternatives();
    return reader.at === source.length ? new Pattern(expression, cost) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TooCostly) return undefined;
    throw error;
  }
}

class TooCostly extends Error {}

/** Reads a pattern that is known to be well formed, for what it can cost. */
class Reader {
  readonly source: string;
  at = 0;
  private depth = 0;

  constructor(source: string) {
    this.source = source;
  }

  alternatives(): Cost {
    if (++this.depth > nestingMax) throw new TooCostly();
    let cost = this.sequence();
    while (this.source[this.at] === "|") {
      this.at++;
      cost = plus(cost, this.sequence());
    }
    this.depth--;
    return cost;
  }

  private sequence(): Cost {
    let cost = single;
    while (this.at < this.source.length && !"|)".includes(this.source[this.at]!)) {
      const item = this.item();
      cost = times(cost, this.repeated(item));
    }
    return cost;
  }

  private item(): Cost {
    const first = this.source[this.at]!;
    if (first === "(") return this.group();
    if (first === "[") return this.skip(/\[(?:[^\]\\]|\\.)*\]/y);
    if (first !== "\\") return this.skip(/./suy);
    // What refers back to a group cannot be counted.
    if (/\\[1-9k]/y.test(this.source.slice(this.at, this.at + 2))) throw new TooCostly();
    return this.skip(/\\./suy);
  }

  private skip(piece: RegExp): Cost {
    piece.lastIndex = this.at;
    this.at += piece.exec(this.source)?.[0].length ?? 1;
    return single;
  }

  private group(): Cost {
    // Looking around starts another match at every place.
    if (/^\(\?[=!<]/.test(this.source.slice(this.at, this.at + 3))) throw new TooCostly();
    this.at += this.source.startsWith("(?:", this.at) ? 3 : 1;
    const cost = this.alternatives();
    this.at++;
    return cost;
  }

  private repeated(item: Cost): Cost {
    const match = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/.exec(this.source.slice(this.at, this.at + 30));
    if (!match) return item;
    this.at += match[0].length;
    if (match[0].startsWith("?")) return plus(item, single);
    if (item.ways > 1 || item.open > 0) throw new TooCostly();
    if (match[1] === undefined || (match[2] === "," && match[3] === "")) return { ways: 1, open: 1 };
    const [least, most] = [Number(match[1]), Number(match[3] || match[1])];
    return { ways: most - least + 1, open: 0 };
  }
}
