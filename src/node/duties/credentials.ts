// Leaves, trust bundles and kubeconfigs of a master, made on this machine. Missing, expired or wrong files are made at
// once. Leaves that are only old are renewed by one master at a time, so that a faulty renewal harms one machine only.
// No restart is needed: components read their files again (etcd at each handshake, the others within minutes).
import { renewalLease, systemNamespace } from '../../contract/cluster-objects.ts';
import { localApiUrl } from '../../contract/ports.ts';
import { bundleFile } from '../../control-plane/control-plane-paths.ts';
import {
  type CredentialOptions,
  dueLeaves,
  ensureMachineCredentials,
  type IssuedLeaf,
} from '../../control-plane/machine-credentials.ts';
import { leadWhile } from '../../kubernetes/lease.ts';
import { apiReadiness } from '../../kubernetes/readiness.ts';
import { waitUntil } from '../../workflow/wait.ts';
import { type Agent, controlPlaneOf } from '../agent-context.ts';
import { acted, type Duty, settled } from '../duty.ts';

const readyWithinMs = 120_000;

export const credentialsDuty: Duty = {
  name: 'credentials',
  roles: ['master'],
  needs: ['keys'],
  ignoresRingsWhenSettled: true,
  run: async (agent) => {
    const options = credentialOptions(agent);
    const made = await ensureMachineCredentials({ ...options, mayIssue: (leaf) => !leaf.canWait });
    if (made.length > 0) return acted(`made ${namesOf(made)}`);
    const ageing = await dueLeaves(options);
    if (ageing.length === 0) return settled();
    const { note, lastFailure } = agent.background.keep('leaf-renewal', (signal, setNote) =>
      renewInTurn(agent, signal, setNote),
    );
    return settled(`${namesOf(ageing)} to be renewed: ${note ?? lastFailure ?? 'waiting for the turn of this master'}`);
  },
};

function credentialOptions(agent: Agent): CredentialOptions {
  const { clusterName, domain, serviceAddresses, apiVips, leafMinutes } = controlPlaneOf(agent);
  const { name, addresses } = agent.node;
  const facts = { cluster: { domain, serviceAddresses, apiVips }, machine: { name, addresses }, leafMinutes };
  return { host: agent.host, facts, clusterName };
}

async function renewInTurn(agent: Agent, signal: AbortSignal, setNote: (note: string) => void): Promise<void> {
  const { host } = agent;
  const client = await agent.api();
  const election = { client, host, namespace: systemNamespace, name: renewalLease, identity: agent.identity, signal };
  await leadWhile(election, async (leadership) => {
    if (!leadership.mayAct()) return;
    setNote('in progress');
    const renewed = await ensureMachineCredentials(credentialOptions(agent));
    agent.log(`renewed ${namesOf(renewed)}`);
    // The turn of this master is over when its API server is ready with the new certificates.
    const ca = await host.files.readText(bundleFile('apiserver-ca'));
    await waitUntil({
      clock: host.clock,
      what: `the API of ${agent.node.name} with renewed certificates`,
      deadlineMs: readyWithinMs,
      everyMs: 1_000,
      signal: leadership.signal,
      probe: () => apiReadiness(host, { url: localApiUrl, ca }),
    });
  });
}

function namesOf(leaves: readonly IssuedLeaf[]): string {
  return leaves.map(({ name }) => name).join(', ');
}
