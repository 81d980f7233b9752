// Why something could not be taken. Also a mistake of this program is told and not thrown: a bundle without one of its
// parts is worth more than none.
export function troubleText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
