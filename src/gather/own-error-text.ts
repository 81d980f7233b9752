// The message of a failure that a collector may have; a mistake of the program is thrown on.
import { FirstlightError } from '../errors/firstlight-error.ts';

export function ownErrorText(error: unknown): string {
  if (error instanceof FirstlightError) return error.message;
  throw error;
}
