// The fields about machines: the two pools, and the hosts that a user provides. machine-rules.ts checks their number.
import { z } from 'zod';
import { type Architecture, architectures } from './architecture.ts';
import { addressMistake } from './cidr.ts';
import { dnsSubdomainAllowed, dnsSubdomainMistake, dnsSubdomainPattern } from './dns-name.ts';
import { textField } from './text-field.ts';

const masterReplicas = z.int().min(1).max(7);
const workerReplicas = z.int().min(0).max(1000);

/** Node names become values of the label kubernetes.io/hostname, and label values end at 63 characters. */
const hostNameMax = 63;

/** They are renewed at the latest six minutes before their end (pki/chain.ts); shorter ones would always be due. */
const shortestLeafMinutes = 10;

const threadsStay = 'cannot be done from here: Firstlight sets no kernel arguments, switch threads off in the firmware';

const sharedPoolFields = (architecture: Architecture) => ({
  architecture: z.enum(architectures).default(architecture).meta({
    description:
      'The processors of this pool. The same in both pools; by default those of the machine firstlight runs on.',
  }),
  hyperthreading: z
    .literal('Enabled', { error: (issue) => (issue.code === 'invalid_value' ? threadsStay : undefined) })
    .default('Enabled')
    .meta({ description: 'Machines use every thread their processors offer.' }),
  platform: z.strictObject({}).optional().meta({ description: 'Settings of a cloud; none of ours has any.' }),
});

const controlPlaneSchema = (architecture: Architecture) =>
  z.strictObject({
    name: z.literal('master').default('master').meta({ description: 'The name of the pool; always master.' }),
    replicas: masterReplicas.default(3).meta({
      description:
        'How many masters: 3 survive the loss of one, 5 of two. An odd number, since etcd needs a majority and an ' +
        'even one survives no more than one fewer. 1 is for trying things out.',
    }),
    certificateMinutes: z
      .int()
      .min(shortestLeafMinutes)
      .max(365 * 24 * 60)
      .optional()
      .meta({
        description:
          'How many minutes the certificates live that masters make for themselves; a year when left out. They are ' +
          'renewed in time by the masters, one after the other.',
        examples: [43_200],
      }),
    ...sharedPoolFields(architecture),
  });

const computePoolSchema = (architecture: Architecture) =>
  z.strictObject({
    name: z.literal('worker').default('worker').meta({ description: 'The name of the pool; always worker.' }),
    replicas: workerReplicas.default(1).meta({
      description: 'How many workers. With 0, the masters run everything.',
    }),
    ...sharedPoolFields(architecture),
  });

export const hostRoles = ['master', 'worker', 'bootstrap'] as const;
export type HostRole = (typeof hostRoles)[number];

const hostSchema = z.strictObject({
  name: textField({
    mistake: hostNameMistake,
    allowed: `${dnsSubdomainAllowed}, at most ${hostNameMax} characters`,
  }).meta({
    pattern: dnsSubdomainPattern,
    maxLength: hostNameMax,
    description: 'What the machine calls itself; its node has the same name.',
    examples: ['master-0'],
  }),
  role: z.enum(hostRoles).meta({
    description: 'What it becomes. The bootstrap machine is needed only until the masters stand on their own.',
  }),
  addresses: z
    .array(textField({ mistake: addressMistake, allowed: 'an IPv4 address, like 10.99.0.11' }))
    .min(1)
    .max(16)
    .meta({
      description: 'Its IPv4 addresses inside machineNetwork, the one it is reached by first.',
      examples: [['10.99.0.11']],
    }),
});

function hostNameMistake(text: string): string | undefined {
  return text.length > hostNameMax ? `has ${text.length} characters` : dnsSubdomainMistake(text);
}

/** `architecture`: the default of both pools. */
export const machineFields = (architecture: Architecture) => ({
  controlPlane: controlPlaneSchema(architecture).prefault({}).meta({ description: 'The masters.' }),
  compute: z
    .tuple([computePoolSchema(architecture)], { error: onePool })
    .prefault([{}])
    .meta({ description: 'The pools of workers: exactly one, worker.' }),
  hosts: z
    .array(hostSchema)
    .max(1100)
    .default([])
    .meta({
      description:
        'The machines you bring, with platform none. Given, only these may join. Left out, whoever holds a pool token ' +
        'may, but the bootstrap does not end: the handoff has to know the machines. Platform local makes its own.',
    }),
});

function onePool(issue: { readonly code?: string }): string | undefined {
  if (issue.code === 'too_small') return 'has no pool; for a cluster without workers give worker the replicas 0';
  return issue.code === 'too_big' ? 'has more than one pool; there is only worker' : undefined;
}
