// A value that must not be printed: every conversion to text gives [redacted]; only `reveal` gives the value.

const redacted = '[redacted]';
/** `inspect.custom` of `node:util`, by its name, so that our processes do not load that module for it. */
const inspected: unique symbol = Symbol.for('nodejs.util.inspect.custom');

export class Secret<T extends string | Uint8Array = string> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  reveal(): T {
    return this.#value;
  }

  toString(): string {
    return redacted;
  }

  toJSON(): string {
    return redacted;
  }

  [inspected](): string {
    return redacted;
  }
}
