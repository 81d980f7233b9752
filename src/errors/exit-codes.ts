// The one table of exit codes. Scripts depend on these numbers: never renumber, only add.
export const exitCodes = {
  ok: 0,
  other: 1,
  usage: 2,
  badConfig: 3,
  infrastructure: 4,
  bootstrapFailed: 5,
  installFailed: 6,
  notStable: 7,
  interrupted: 8,
  auditFailed: 9,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];
