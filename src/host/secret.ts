// A value that must not be printed. Everything that stringifies it gets [redacted]; `reveal` is greppable.

const redacted = '[redacted]';
/** What `node:util` calls `inspect.custom`. By its name, because each of our processes would load that module for it. */
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
