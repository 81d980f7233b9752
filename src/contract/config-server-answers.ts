// What every answer of a config server has in common, on whatever path.

/** Why it refused, for programs. */
export const reasonHeader = 'x-mcs-reason';
