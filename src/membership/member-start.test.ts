import { describe, expect, test } from 'vitest';
import { waitingFor } from '../contract/missing.ts';
import type { DataFolder } from '../etcd/data-folder.ts';
import type { ClusterId, Member, MemberId } from '../etcd/member.ts';
import { decideStart, type Listing } from './member-start.ts';

const here = 'https://10.0.0.11:2380';
const ours = 'c1' as ClusterId;
const member = (id: string, name: string, peerUrl: string): Member => ({
  id: id as MemberId,
  name,
  peerUrls: [peerUrl],
  clientUrls: name === '' ? [] : ['https://somewhere:2379'],
  isLearner: name === '',
});
const bootstrap = member('b0', 'bootstrap', 'https://10.0.0.10:2380');
const read = (...members: readonly Member[]): Listing => ({
  status: 'read',
  clusterId: ours,
  members: [bootstrap, ...members],
});
const unreachable: Listing = { status: 'unreachable' };
const empty: DataFolder = { status: 'empty' };
const dataOf = (id: string, cluster: string = ours): DataFolder => ({
  status: 'present',
  member: id as MemberId,
  cluster: cluster as ClusterId,
});
const announced = member('a1', '', here);
const started = member('a1', 'master-0', here);

describe('whether the member of a machine is started', () => {
  test.each<[string, Listing, DataFolder, object]>([
    ['listed, unnamed, no data: it joins', read(announced), empty, { kind: 'join' }],
    ['listed, unnamed, its own data: it was started a moment ago', read(announced), dataOf('a1'), { kind: 'resume' }],
    [
      'listed, unnamed, data of an earlier member: that is put aside',
      read(announced),
      dataOf('e5'),
      { kind: 'archive' },
    ],
    ['listed, named, its data: it goes on', read(started), dataOf('a1'), { kind: 'resume' }],
    ['listed, named, no data: it must never start empty', read(started), empty, { kind: 'data-lost', member: 'a1' }],
    ['listed, named, data of another: the same', read(started), dataOf('e5'), { kind: 'data-lost', member: 'a1' }],
    ['not listed, data of this cluster: it was removed and waits', read(), dataOf('a1'), { kind: 'wait' }],
    ['not listed, data of another cluster: that is put aside', read(), dataOf('a1', 'c9'), { kind: 'archive' }],
    [
      'not listed, no data: it waits to be added',
      read(),
      empty,
      { kind: 'wait', for: waitingFor('master-0', 'to be added to etcd') },
    ],
    ['nobody answers, data: a power cut is over', unreachable, dataOf('a1'), { kind: 'resume' }],
    ['nobody answers, no data: it waits', unreachable, empty, { kind: 'wait' }],
  ])('%s', (_title, listing, data, expected) => {
    expect(decideStart({ name: 'master-0', peerUrl: here, listing, data, names: new Map() })).toMatchObject(expected);
  });

  test('a joining member is told of all listed peers, also of those without a name, in order of names', () => {
    const next = member('a2', '', 'https://10.0.0.12:2380');
    const stranger = member('a3', '', 'https://10.0.0.13:2380');
    const names = new Map([['https://10.0.0.12:2380', 'master-1']]);
    const listing = read(next, stranger, announced);
    const decision = decideStart({ name: 'master-0', peerUrl: here, listing, data: empty, names });
    expect(decision).toEqual({
      kind: 'join',
      initialCluster: [
        { name: 'a3', peerUrl: 'https://10.0.0.13:2380' },
        { name: 'bootstrap', peerUrl: 'https://10.0.0.10:2380' },
        { name: 'master-0', peerUrl: here },
        { name: 'master-1', peerUrl: 'https://10.0.0.12:2380' },
      ],
    });
  });
});
