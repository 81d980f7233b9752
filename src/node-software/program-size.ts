// How much a program of ours may take on a machine. The launcher in the machine root reads the word and knows the flags.

/**
 * For who stays for ever and mostly waits: without the optimising compiler and its threads it needs 85 MB instead of 95,
 * and no more processor time. A server under load has its use for it, and what ends soon frees its memory anyway.
 */
export const smallProgram = { FIRSTLIGHT_SIZE: 'small' } as const;
