// The only error class that a user sees, and the tables that make its values.
// A module declares its errors as rows of a table. The printed code is PREFIX_ROW and never changes once released.
// Mistakes of a programmer stay plain Error: they are bugs, not messages.
import type { ExitCode } from './exit-codes.ts';

export class FirstlightError extends Error {
  readonly code: string;
  readonly exit: ExitCode;
  readonly hint: string;
  /** What the row was given; `isError(error, table.ROW)` narrows it to the type of that row. */
  readonly details: unknown;

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
  readonly details: unknown;
  readonly cause?: unknown;
}

/** An error of one row. */
export type ErrorOfRow<Details> = FirstlightError & { readonly details: Readonly<Details> };

export interface ErrorRow<Details> {
  /** What failed, on which object: one sentence without a full stop. */
  readonly message: (details: Details) => string;
  /** What to do next: a command where there is one. */
  readonly hint: string | ((details: Details) => string);
  /** When this happens and why, for `firstlight explain error CODE`. */
  readonly means: string;
  readonly exit: ExitCode;
}

/** A row as a list of different rows holds it, without the type of its details. */
export interface ErrorKind {
  readonly code: string;
  readonly row: ErrorRow<never>;
}

export interface ErrorMaker<Details> extends ErrorKind {
  (details: Details, options?: { readonly cause?: unknown }): ErrorOfRow<Details>;
}

type Rows = Record<string, ErrorRow<never>>;
type DetailsOf<Row> = Row extends ErrorRow<infer Details> ? Details : never;
export type ErrorTable<R extends Rows> = { readonly [K in keyof R]: ErrorMaker<DetailsOf<R[K]>> };

/** Turns rows into makers: `throw pkiErrors.EXPIRED({ file })` prints as PKI_EXPIRED. */
export function errorTable<const R extends Rows>(prefix: string, rows: R): ErrorTable<R> {
  const makers = Object.entries(rows).map(([name, row]) => [name, maker(`${prefix}_${name}`, row)] as const);
  return Object.fromEntries(makers) as unknown as ErrorTable<R>;
}

function maker(code: string, row: ErrorRow<never>): ErrorKind {
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

/** The error type of a row. For a kind without a known row the details stay unknown. */
type ErrorOf<Kind extends ErrorKind> = Kind extends ErrorMaker<infer Details> ? ErrorOfRow<Details> : FirstlightError;

/** True when `error` was made by this row; the only way to catch a coded error by kind. */
export function isError<Kind extends ErrorKind>(error: unknown, row: Kind): error is ErrorOf<Kind> {
  return error instanceof FirstlightError && error.code === row.code;
}
