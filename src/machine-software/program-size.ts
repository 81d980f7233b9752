// How much a program of ours may take on a machine. The launcher in the machine root reads the word and knows the flags.

/**
 * For who stays for ever and mostly waits: without the compilers that make it faster, and their threads, it needs 82 MB
 * instead of 95, and no more processor time. A server under load has its use for them, and what ends soon frees its
 * memory anyway.
 */
export const smallProgram = { FIRSTLIGHT_SIZE: 'small' } as const;
