// Whether this is a run of `./check --long`: all faults and many more points, instead of a few of each.
export const isLong = process.env['FIRSTLIGHT_LONG'] === '1';
