// Where we and Ignition 2.24.0 differ on purpose, each with its reason. The tests put every row to both, so a row that
// is no longer true fails; what is not in this list is a bug.
import type { IgnitionConfig } from '../../src/ignition/config.ts';
import type { ReportVerdict } from '../../src/ignition/report.ts';

export interface Disagreement {
  readonly title: string;
  readonly text: string;
  readonly ours: ReportVerdict;
  readonly theirs: ReportVerdict;
  readonly reason: string;
  /** The newest spec the asked Ignition knows; 3.5 unless said otherwise. */
  readonly newestSpec?: '3.6-experimental';
}

const withBody = (body: string) => `{"ignition":{"version":"3.5.0"},${body}}`;

export const disagreements: readonly Disagreement[] = [
  {
    title: 'integers beyond 2^53 are refused',
    text: withBody('"passwd":{"users":[{"name":"a","uid":9007199254740993}]}'),
    ours: 'error',
    theirs: 'fine',
    reason: 'A JavaScript number cannot hold them; no size, id or timeout reaches them, and rounding would be silent.',
  },
  {
    title: 'a stray % after an empty quoted parameter of a data URL is refused',
    text: withBody('"storage":{"files":[{"path":"/a","contents":{"source":"data:;a=\\"\\";b=%zz,x"}}]}'),
    ours: 'error',
    theirs: 'fine',
    reason: 'The library Ignition uses takes the next parameter for quoted and forgets to check it.',
  },
  {
    title: 'a list given three times does not remember what the second one cut off',
    text: withBody('"storage":{"files":[{"path":"/a"},{"path":"/b"}],"files":[{}],"files":[{},{}]}'),
    ours: 'error',
    theirs: 'fine',
    reason: 'Go finds the old entries in the spare memory of the shortened list. Nobody can mean that.',
  },
  {
    title: 'an unknown key is reported also beside a number that no float64 holds',
    text: withBody('"a":1e999'),
    ours: 'warning',
    theirs: 'fine',
    reason:
      'Ignition reads the text a second time to find unknown keys, fails at the number, and reports no key at all.',
  },
  {
    title: 'spec 3.6.0-experimental is unknown',
    text: '{"ignition":{"version":"3.6.0-experimental"}}',
    ours: 'error',
    theirs: 'fine',
    newestSpec: '3.6-experimental',
    reason: 'Later Ignition releases refuse it in turn, so nothing lasting should be written in it.',
  },
];

/**
 * Ignition loses the advertisement of tang servers when it converts 3.4 to 3.5; we keep it.
 * Gives back Ignition's config with ours in their place if any of the configs it was made from is of 3.4.
 */
export function withOurAdvertisements(
  theirs: unknown,
  ours: IgnitionConfig,
  inputs: readonly IgnitionConfig[],
): unknown {
  const config = structuredClone(theirs) as IgnitionConfig;
  if (inputs.every(({ ignition }) => ignition.version !== '3.4.0')) return config;
  for (const [index, device] of (config.storage?.luks ?? []).entries()) {
    for (const [server, tang] of (device.clevis?.tang ?? []).entries()) {
      const advertisement = ours.storage?.luks?.[index]?.clevis?.tang?.[server]?.advertisement;
      Object.assign(tang, { advertisement });
    }
  }
  return config;
}
