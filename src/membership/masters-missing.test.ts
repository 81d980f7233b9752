import { describe, expect, test } from 'vitest';
import { missingLine, waitingFor } from '../contract/missing.ts';
import { mastersMissing } from './masters-missing.ts';
import type { ObservedCluster, ObservedMember } from './observed-cluster.ts';

const names = ['a', 'b', 'c'];
const urlOf = (name: string) => ({ peerUrl: `https://${name}:2380`, clientUrl: `https://${name}:2379` });

function member(name: string, more: Partial<ObservedMember> = {}): ObservedMember {
  const { peerUrl, clientUrl } = urlOf(name);
  const probe = { status: 'answers', state: {}, tookMs: 1 } as ObservedMember['probe'];
  const id = name as ObservedMember['id'];
  return { id, name, peerUrls: [peerUrl], clientUrls: [clientUrl], isLearner: false, probe, unchangedMs: 0, ...more };
}

function cluster(members: readonly ObservedMember[], readyApiServers: readonly string[] = names): ObservedCluster {
  return {
    membership: { status: 'read', members },
    bootstrap: { name: 'bootstrap', ...urlOf('bootstrap') },
    masters: names.map((name) => ({
      name,
      ...urlOf(name),
      readiness: undefined,
      freeDiskBytes: undefined,
      isLeaving: false,
      isGone: false,
    })),
    justRemoved: [],
    slowForMs: undefined,
    handoff: { isCommitted: true, readyApiServers, bootstrapApi: 'closed', publishedMembers: undefined },
    maxLearners: 3,
  };
}

const all = names.map((name) => member(name));
const missing = (seen: ObservedCluster, { except = 'a', ready = names } = {}): string =>
  missingLine(mastersMissing({ seen, readyNodes: new Set(ready), except }));

describe('a master may go down', () => {
  test('when the others are Ready, serve and vote, and every member answers', () => {
    expect(missing(cluster(all))).toBe('');
  });

  test('although it does not serve itself, and not while another does not', () => {
    expect(missing(cluster(all, ['b', 'c']))).toBe('');
    expect(missing(cluster(all, ['a', 'b']))).toBe('c to serve the API');
    expect(missing(cluster(all, ['b', 'c']), { except: '' })).toBe('a to serve the API');
  });

  test('not while another is not Ready, learns, or is no member', () => {
    expect(missing(cluster(all), { ready: ['a', 'b'] })).toBe('c to be Ready');
    expect(missing(cluster([...all.slice(0, 2), member('c', { isLearner: true })]))).toBe('c to vote in etcd');
    expect(missing(cluster(all.slice(0, 2)))).toBe('c to vote in etcd');
  });

  test('not while a member is silent', () => {
    const silent = member('b', { probe: { status: 'silent', why: 'does not answer' } });
    expect(missing(cluster([all[0], silent, all[2]].filter((each) => each !== undefined)))).toBe(
      'the etcd member b to answer',
    );
  });

  test('not while the members cannot be read, or the bootstrap machine is one of them', () => {
    const unreadable = { status: 'unreadable', missing: waitingFor('a majority of etcd') } as const;
    expect(missing({ ...cluster(all), membership: unreadable })).toBe('a majority of etcd');
    expect(missing(cluster([...all, member('bootstrap')]))).toBe('the bootstrap machine to leave etcd');
  });
});
