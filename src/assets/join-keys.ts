// The join keys: pool tokens are derived from them. They stay on the workstation; config servers get digests of tokens.
// Masters have a key of their own that ends after a day: whoever finds an old master.ign must not become a master, who
// is given every signer. `node add` makes the pointer of a later master by itself.
import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { digestToken } from '../admission/bootstrap-token.ts';
import { type PoolTokenDigests, poolToken } from '../admission/pool-token.ts';
import { type AssetFile, asset, type GenerateTools, textOf } from './asset.ts';
import { readAssetJson } from './checked-files.ts';

const paths = { all: 'auth/join-keys.json', masters: 'auth/master-join-keys.json' } as const;
const key = z.strictObject({ key: z.base64().length(44), notAfter: z.iso.datetime() });
const schema = z.strictObject({
  current: key,
  /** Still accepted until their end, so that machines with an older pointer can join during a rotation. */
  previous: z.array(key),
});

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

export type JoinKeys = z.output<typeof schema>;

export const joinKeys = asset({
  name: 'join-keys',
  why: 'A machine that asks for its configuration must show that it belongs to us before it learns anything.',
  neededUntil: 'no machine has to join with the present pointer configs any more',
  inputs: {},
  outputs: [paths.all],
  generate: (_inputs, tools) => {
    const notAfter = endIn(365 * dayMs, tools);
    return successor(paths.all, { key: Buffer.from(tools.random.bytes(32)).toString('base64'), notAfter }, tools);
  },
  read: (files) => readAssetJson(paths.all, textOf(files), schema),
  stale: (keys, tools) => endsWithin(30 * dayMs, keys, tools),
});

export const masterJoinKeys = asset({
  name: 'master-join-keys',
  why: 'A master is given every signer of the cluster, so what lets it ask for its configuration ends after a day.',
  neededUntil: 'the masters have joined; node add makes a pointer for each later one',
  inputs: { joinKeys },
  outputs: [paths.masters],
  generate: ({ joinKeys: { current } }, tools) => {
    const notAfter = endIn(dayMs, tools);
    const derived = createHmac('sha256', Buffer.from(current.key, 'base64'));
    const key = derived.update(`firstlight master join key v1\n${notAfter}`).digest('base64');
    return successor(paths.masters, { key, notAfter }, tools);
  },
  read: (files) => readAssetJson(paths.masters, textOf(files), schema),
  stale: (keys, tools) => endsWithin(2 * hourMs, keys, tools),
});

function endIn(lifeMs: number, { clock }: GenerateTools): string {
  return new Date(clock.now().getTime() + lifeMs).toISOString();
}

function successor(path: string, current: JoinKeys['current'], { clock, before }: GenerateTools): readonly AssetFile[] {
  const older = before.size === 0 ? undefined : readAssetJson(path, textOf(before), schema);
  const previous = older === undefined ? [] : [older.current, ...older.previous];
  const accepted = previous.filter((each) => Date.parse(each.notAfter) > clock.now().getTime());
  return [{ path, content: `${JSON.stringify({ current, previous: accepted }, null, 2)}\n`, mode: 0o600 }];
}

function endsWithin(leftMs: number, { current }: JoinKeys, { clock }: GenerateTools): string | undefined {
  if (Date.parse(current.notAfter) - clock.now().getTime() >= leftMs) return undefined;
  return `the join key ends on ${current.notAfter.slice(0, 16).replace('T', ' ')}`;
}

/** What config servers get of them. */
export function poolTokenDigests(keys: {
  readonly joinKeys: JoinKeys;
  readonly masterJoinKeys: JoinKeys;
}): PoolTokenDigests {
  const digests = (pool: string, { current, previous }: JoinKeys): PoolTokenDigests[string] =>
    [current, ...previous].map(({ key, notAfter }) => ({
      sha256: digestToken(poolToken(Buffer.from(key, 'base64'), pool)),
      notAfter,
    }));
  return { master: digests('master', keys.masterJoinKeys), worker: digests('worker', keys.joinKeys) };
}
