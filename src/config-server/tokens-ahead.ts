// Tokens of one pool that are on the disk before the machine that gets them has asked. In a rush every machine would wait
// for the disk, and the server with them; so what is written runs ahead of what is asked for, by a few moments. Outside
// of a rush nothing is written ahead, because every token here is one that perhaps nobody ever gets.

/** Requests within this time are counted together. */
const spanMs = 10;
/** So many of them are a rush. */
const rushRequests = 8;
/** Of the rush as it is: long enough for a disk to write the next ones. */
const spansAhead = 5;
const most = 1_024;
/** Then those that are left are forgotten: a machine must not be told that its token lives longer than it does. */
const keptMs = 60_000;

export class TokensAhead {
  #span = { startMs: 0, requests: 0 };
  /** How many should be there. */
  #wanted = 0;
  #tokens: string[] = [];
  #config = '';
  #recordedAtMs = 0;
  #isRecording = false;

  /** One that was recorded with this config, if there is one; who asks is counted in any case. */
  take(config: string, nowMs: number): string | undefined {
    if (nowMs - this.#span.startMs >= spanMs) this.#beginSpan(nowMs);
    this.#span.requests += 1;
    if (this.#config !== config || nowMs - this.#recordedAtMs >= keptMs) this.#tokens = [];
    return this.#tokens.pop();
  }

  /** How many to record now; none while half of those wanted are there, or others are being recorded. */
  get missing(): number {
    const missing = this.#wanted - this.#tokens.length;
    return this.#isRecording || missing * 2 < this.#wanted ? 0 : missing;
  }

  /** `recorded` resolves with tokens that are on the disk. Those that are there already are of the same config. */
  async add(config: string, nowMs: number, recorded: Promise<readonly string[]>): Promise<void> {
    this.#isRecording = true;
    try {
      const tokens = await recorded;
      // The oldest at the end, so that they go first.
      this.#tokens = this.#config === config ? [...tokens, ...this.#tokens] : [...tokens];
      this.#config = config;
      this.#recordedAtMs = nowMs;
    } finally {
      this.#isRecording = false;
    }
  }

  #beginSpan(nowMs: number): void {
    const { startMs, requests } = this.#span;
    const isRush = nowMs - startMs < 2 * spanMs && requests >= rushRequests;
    this.#wanted = isRush ? Math.min(most, requests * spansAhead) : 0;
    this.#span = { startMs: nowMs, requests: 0 };
  }
}
