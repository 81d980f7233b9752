// How Node runs our programs on a machine. The launcher of the machine root passes on what it finds in this variable:
// NODE_OPTIONS takes no such flags.

/**
 * For whoever mostly waits: no optimising compiler, whose code and threads cost a fifth of the processor time and of the
 * memory of such a program and never pay. A server under load has its use for it.
 */
export const smallProgram = {
  FIRSTLIGHT_NODE_FLAGS: '--single-threaded --no-opt --optimize-for-size',
} as const;
