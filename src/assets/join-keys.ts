// The join key: pool tokens are derived from it. It stays on the workstation; config servers get digests of tokens.
import { z } from 'zod';
import { digestToken } from '../admission/bootstrap-token.ts';
import { type PoolTokenDigests, poolToken } from '../admission/pool-token.ts';
import { asset, textOf } from './asset.ts';
import { readAssetJson } from './checked-files.ts';

const path = 'auth/join-keys.json';
const key = z.strictObject({ key: z.base64().length(44), notAfter: z.iso.datetime() });
const schema = z.strictObject({
  current: key,
  /** Still accepted until their end, so that machines with an older pointer can join during a rotation. */
  previous: z.array(key),
});

const lifeDays = 365;
const renewDays = 30;
const dayMs = 86_400_000;

export type JoinKeys = z.output<typeof schema>;

export const joinKeys = asset({
  name: 'join-keys',
  why: 'A machine that asks for its configuration must show that it belongs to us before it learns anything.',
  neededUntil: 'no machine has to join with the present pointer configs any more',
  inputs: {},
  outputs: [path],
  generate: (_inputs, { random, clock, before }) => {
    const now = clock.now();
    const notAfter = new Date(now.getTime() + lifeDays * dayMs).toISOString();
    const current = { key: Buffer.from(random.bytes(32)).toString('base64'), notAfter };
    const older = before.size === 0 ? undefined : readAssetJson(path, textOf(before), schema);
    const previous = older === undefined ? [] : [older.current, ...older.previous];
    const accepted = previous.filter((each) => Date.parse(each.notAfter) > now.getTime());
    return [{ path, content: `${JSON.stringify({ current, previous: accepted }, null, 2)}\n`, mode: 0o600 }];
  },
  read: (files) => readAssetJson(path, textOf(files), schema),
  stale: ({ current }, { clock }) =>
    Date.parse(current.notAfter) - clock.now().getTime() < renewDays * dayMs
      ? `the join key ends on ${current.notAfter.slice(0, 10)}`
      : undefined,
});

/** What config servers get of it. */
export function poolTokenDigests({ current, previous }: JoinKeys): PoolTokenDigests {
  const digests = (pool: string): PoolTokenDigests[string] =>
    [current, ...previous].map(({ key, notAfter }) => ({
      sha256: digestToken(poolToken(Buffer.from(key, 'base64'), pool)),
      notAfter,
    }));
  return { master: digests('master'), worker: digests('worker') };
}
