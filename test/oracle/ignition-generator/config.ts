// Whole configs: everything at once, or one section alone with worse odds, where a broken rule is the only one.
import * as fc from 'fast-check';
import { disks } from './disks.ts';
import { files } from './files.ts';
import type { Odds } from './odds.ts';
import { byName, flag, itself, object, odds, over } from './odds.ts';
import { resources } from './resources.ts';

/** Text that comes close to being a unit. */
export const nearlyUnit: fc.Arbitrary<string> = fc.oneof(
  over(['[', ']', '[Install]', '[Unit]', '\n', '=', '#', '\\', 'A', ' ', ';', '\r', '\u2003', '\u0085', 'é'], 20),
  fc
    .tuple(
      fc.constantFrom('[Unit]\n', '[Unit]\n#\\\n', 'x', '# '),
      fc.nat(1500),
      fc.nat(5000),
      fc.constantFrom('', '\n', '\r\nB=c', ' \\\n'),
    )
    .map(([start, lines, length, end]) => `${start}${'é=ü\n'.repeat(lines)}A=${'x'.repeat(length)}${end}`),
);

const installable = '[Unit]\nDescription=a\n[Install]\nWantedBy=multi-user.target\n';
const continued = '[Service]\nExecStart=/bin/a \\\n  -b\n# c \\\n[d\n[Install]\nWantedBy=x';

function units({ either, list, pick }: Odds) {
  const contents = either(fc.constantFrom('', installable, continued, '[Unit]\nA=b\n'), nearlyUnit);
  const dropins = list(object({ name: pick(['10.conf', '20.conf', '30.conf'], ['a', '.txt']) }, { contents }), byName);
  const name = pick(
    ['app.service', 'b.socket', 'c.timer', 't@.service', 't@x.service', 't@y.service'],
    ['a', 'x.conf', '../b.service'],
  );
  return object({}, { units: list(object({ name }, { enabled: flag, mask: flag, contents, dropins }), byName) });
}

function accounts({ list }: Odds) {
  const name = fc.constantFrom('core', 'admin', 'svc', '');
  const common = { passwordHash: fc.constantFrom('', '$6$x'), shouldExist: flag, system: flag };
  const user = object(
    { name },
    {
      ...common,
      sshAuthorizedKeys: list(fc.constantFrom('k1', 'k2', 'k3'), itself),
      uid: fc.integer({ min: -1, max: 2000 }),
      gecos: fc.string({ maxLength: 4 }),
      homeDir: fc.constantFrom('/home/x', ''),
      noCreateHome: flag,
      primaryGroup: name,
      groups: list(fc.constantFrom('g1', 'g2', 'g3'), itself),
      noUserGroup: flag,
      noLogInit: flag,
      shell: fc.constant('/bin/sh'),
    },
  );
  const group = object({ name }, { ...common, gid: fc.nat(3000) });
  return object({}, { users: list(user, byName), groups: list(group, byName) });
}

function kernelArguments({ either }: Odds) {
  return either(
    fc
      .tuple(fc.uniqueArray(fc.constantFrom('a', 'b=c', 'd', 'quiet'), { maxLength: 4 }), fc.nat(4))
      .map(([all, cut]) => ({ shouldExist: all.slice(0, cut), shouldNotExist: all.slice(cut) })),
    object(
      {},
      { shouldExist: fc.array(fc.constantFrom('a', 'b')), shouldNotExist: fc.array(fc.constantFrom('a', 'c')) },
    ),
  );
}

/** Every section may be there. */
export function configs(goodPerBad: number): fc.Arbitrary<object> {
  const chance = odds(goodPerBad);
  const parts = resources(chance);
  const storage = fc
    .tuple(files(chance, parts), object({}, disks(chance, parts)))
    .map(([lists, rest]) => ({ ...lists, ...rest }));
  return object(
    { ignition: object({ version: parts.version }, parts.ignitionSections) },
    { storage, systemd: units(chance), passwd: accounts(chance), kernelArguments: kernelArguments(chance) },
  );
}

/** One section each. */
export function sections(goodPerBad: number): fc.Arbitrary<object> {
  const chance = odds(goodPerBad);
  const parts = resources(chance);
  const bodies: Record<string, fc.Arbitrary<unknown>>[] = [
    { storage: files(chance, parts) },
    ...Object.entries(disks(chance, parts)).map(([name, lists]) => ({ storage: object({ [name]: lists }) })),
    { systemd: units(chance) },
    { passwd: accounts(chance) },
    { kernelArguments: kernelArguments(chance) },
  ];
  const headers = Object.entries(parts.ignitionSections).map(([name, section]) =>
    object({ ignition: object({ version: parts.version, [name]: section }) }),
  );
  return fc.oneof(
    ...headers,
    ...bodies.map((body) => object({ ignition: object({ version: parts.version }), ...body })),
  );
}
