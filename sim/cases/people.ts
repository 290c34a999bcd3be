// The people: clerks who open cases and sometimes cancel them, and two supervisors who empty their inbox. Each asks again
// with the same key until the API has answered, as an HTTP client should.
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export interface Plan {
  readonly index: number;
  readonly severity: "normal" | "high";
  readonly jurisdiction: string;
  readonly decision: "approve" | "reject";
  readonly cancels: boolean;
}

/** Of a hundred cases: 10 grave, 5 of a foreign jurisdiction, 10 rejected, 5 cancelled. */
export const planOf = (index: number): Plan => ({
  index,
  severity: index % 10 === 3 ? "high" : "normal",
  jurisdiction: index % 20 === 7 ? "XX" : "ID-JK",
  decision: index % 10 === 5 ? "reject" : "approve",
  cancels: index % 20 === 9,
});

interface Asked {
  readonly method?: string;
  readonly body?: object;
  readonly user: string;
  readonly key?: string;
}

export class People {
  readonly #url: string;
  readonly #run: string;
  readonly opened = new Map<string, Plan>();
  asked = 0;
  unanswered = 0;
  /** What the API said instead of an answer, and how often. */
  readonly putOff = new Map<string, number>();
  #over = false;

  constructor(url: string, run: string) {
    this.#url = url;
    this.#run = run;
  }

  /** One request; undefined where there was no answer, or one that says to come again. */
  async #ask(
    path: string,
    { method = "POST", body, user, key }: Asked,
  ): Promise<{ status: number; body: any } | undefined> {
    this.asked++;
    try {
      const response = await fetch(this.#url + path, {
        method,
        headers: {
          "content-type": "application/json",
          "x-user": user,
          "x-roles": user.startsWith("sup") ? "supervisor" : "clerk",
          ...(key !== undefined && { "idempotency-key": `${this.#run}-${key}` }),
        },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(10_000),
      });
      const text = await response.text();
      if (response.status < 500 && response.status !== 429 && response.status !== 408)
        return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
      this.#notePutOff(response.status, text);
    } catch {
      // Killed in the middle: whether it took place is found out by asking again.
    }
    this.unanswered++;
    await pause(200);
    return undefined;
  }

  #notePutOff(status: number, text: string): void {
    const what = `${status} ${/"code":"([^"]*)"/.exec(text)?.[1] ?? text.slice(0, 200)}`;
    this.putOff.set(what, (this.putOff.get(what) ?? 0) + 1);
  }

  async #until(path: string, asked: Asked, isAnswer: (status: number) => boolean): Promise<any> {
    for (;;) {
      const answer = await this.#ask(path, asked);
      if (answer && isAnswer(answer.status)) return answer.body;
      if (answer) await pause(50);
    }
  }

  async open(index: number): Promise<void> {
    const plan = planOf(index);
    const body = {
      tenantId: "t1",
      partyName: `Party ${index}`,
      jurisdiction: plan.jurisdiction,
      severity: plan.severity,
    };
    const accepted = await this.#until(
      "/cases",
      { body, user: "clerk", key: `open-${index}` },
      (status) => status === 202,
    );
    this.opened.set(accepted.caseId, plan);
    if (plan.cancels) void this.#cancel(accepted.caseId, index);
  }

  /** At some moment or other: before, while or after the supervisors decide. */
  async #cancel(caseId: string, index: number): Promise<void> {
    await pause((index * 37) % 1500);
    const asked = { body: { reason: "opened twice" }, user: "clerk", key: `cancel-${index}` };
    await this.#until(`/cases/${caseId}/cancel`, asked, (status) => status === 204 || status === 409);
  }

  async #decideAll(user: string): Promise<void> {
    while (!this.#over) {
      const inbox = (await this.#ask("/approvals", { method: "GET", user }))?.body ?? [];
      await Promise.all(
        inbox.slice(0, 20).map(async ({ id, subject }: { id: string; subject: string }) => {
          const plan = this.opened.get(subject);
          // Known to the database, but its answer has not come to the clerk yet.
          if (!plan) return;
          const body = { decision: plan.decision, reason: "looked at it" };
          await this.#ask(`/approvals/${id}/decision`, { body, user, key: `${user}-${id}` });
        }),
      );
      await pause(inbox.length > 0 ? 20 : 200);
    }
  }

  supervise(): { end(): Promise<unknown> } {
    const all = ["sup-1", "sup-2", "sup-3"].map((user) => this.#decideAll(user));
    return {
      end: () => {
        this.#over = true;
        return Promise.all(all);
      },
    };
  }
}
