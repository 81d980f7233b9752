// The one error class a person may ever see, and the tables its values come from.
// A module declares its errors as rows; the code printed is PREFIX_ROW and never changes once released.
// Programmer mistakes stay plain Error: they are bugs, not messages.
import type { ExitCode } from './exit-codes.ts';

export class FirstlightError extends Error {
  readonly code: string;
  readonly exit: ExitCode;
  readonly hint: string;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(init: ErrorInit) {
    super(init.message, init.cause === undefined ? undefined : { cause: init.cause });
    this.name = 'FirstlightError';
    this.code = init.code;
    this.exit = init.exit;
    this.hint = init.hint;
    this.details = init.details;
  }
}

interface ErrorInit {
  readonly code: string;
  readonly exit: ExitCode;
  readonly message: string;
  readonly hint: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

export interface ErrorRow<Details> {
  /** What failed, on which object: one sentence without a full stop. */
  readonly message: (details: Details) => string;
  /** What to do next: a command where there is one. */
  readonly hint: string | ((details: Details) => string);
  /** When this happens and why, for `firstlight explain error CODE`. */
  readonly means: string;
  readonly exit: ExitCode;
}

export interface ErrorMaker<Details> {
  (details: Details, options?: { readonly cause?: unknown }): FirstlightError;
  readonly code: string;
  readonly row: ErrorRow<never>;
}

type Rows = Record<string, ErrorRow<never>>;
type DetailsOf<Row> = Row extends ErrorRow<infer Details> ? Details : never;
export type ErrorTable<R extends Rows> = { readonly [K in keyof R]: ErrorMaker<DetailsOf<R[K]>> };

/** Turns rows into makers: `throw pkiErrors.EXPIRED({ file })` prints as PKI_EXPIRED. */
export function errorTable<const R extends Rows>(prefix: string, rows: R): ErrorTable<R> {
  const makers = Object.entries(rows).map(([name, row]) => [name, maker(`${prefix}_${name}`, row)] as const);
  return Object.fromEntries(makers) as unknown as ErrorTable<R>;
}

function maker(code: string, row: ErrorRow<never>): ErrorMaker<never> {
  const make = (details: never, options?: { readonly cause?: unknown }): FirstlightError =>
    new FirstlightError({
      code,
      exit: row.exit,
      message: row.message(details),
      hint: typeof row.hint === 'string' ? row.hint : row.hint(details),
      details,
      ...(options?.cause === undefined ? {} : { cause: options.cause }),
    });
  return Object.assign(make, { code, row });
}

/** True when `error` was made by this row; the only way to catch a coded error by kind. */
export function isError<Details>(error: unknown, row: ErrorMaker<Details>): error is FirstlightError {
  return error instanceof FirstlightError && error.code === row.code;
}
