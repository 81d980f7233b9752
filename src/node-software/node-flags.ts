// How Node runs our programs on a machine. The launcher of the machine root passes on what it finds in this variable:
// NODE_OPTIONS takes no such flags.

/**
 * For who stays for ever and mostly waits: without the optimising compiler and its threads it needs 85 MB instead of 95,
 * and no more processor time. A server under load has its use for it, and what ends soon frees its memory anyway.
 */
export const smallProgram = {
  FIRSTLIGHT_NODE_FLAGS: '--single-threaded --no-opt --optimize-for-size',
} as const;
