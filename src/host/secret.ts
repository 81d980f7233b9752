// A value that must not be printed. Everything that stringifies it gets [redacted]; `reveal` is greppable.
import { inspect } from 'node:util';

const redacted = '[redacted]';

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

  [inspect.custom](): string {
    return redacted;
  }
}
