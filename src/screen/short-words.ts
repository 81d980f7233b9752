// Texts of other programs and long names, shortened for the screen. For display only: nothing is decided by the result.

/** Known names lose scheme, domain and path, failed name lookups their resolver, digests all but eight digits. */
export function shortened(text: string): string {
  return text
    .replaceAll(/https:\/\/(api-int|api|localhost)(?:\.[\w.-]+)?:(\d+)[\w/-]*/g, '$1:$2')
    .replace(/: lookup \S+(?: on \S+)?: (?:.*: )?(no such host)?/, (_all, plain) => `: ${plain ?? 'name lookup: '}`)
    .replaceAll(/@sha256:([0-9a-f]{8})[0-9a-f]+/g, '@sha256:$1…');
}
