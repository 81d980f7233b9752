// The program's own name and version, as printed and as recorded in what it makes.
export const programName = 'firstlight';
export const firstlightVersion = '0.1.0';
/** What rendered configurations say of the program that made them. */
export const generatedBy = `${programName} ${firstlightVersion}`;
