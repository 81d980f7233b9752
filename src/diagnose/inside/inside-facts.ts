// What `firstlight machine-facts` finds out inside a machine. Programs of another version may read it, so fields are
// only added. It contains no secret.
import { z } from 'zod';

const failure = z.enum([
  'dns',
  'refused',
  'unreachable',
  'timeout',
  'tls',
  'reset',
  'protocol',
  'too-large',
  'aborted',
]);

/** How an attempt ended; neither field when it succeeded. */
const trouble = { failure: failure.exactOptional(), reason: z.string().exactOptional() };

export const insideFactsSchema = z.object({
  /** By the clock of the machine. */
  now: z.iso.datetime(),
  nameServers: z.array(z.string()),
  names: z.array(z.object({ name: z.string(), addresses: z.array(z.string()), ...trouble })),
  /** Ports of the load balancer, connected to by its address, so that name resolution does not matter. */
  ports: z.array(z.object({ port: z.int(), ...trouble })),
  /** Ports on which this machine itself answers. */
  serves: z.array(z.int()),
  /** The answer to the request of its pointer config, made without using its token; absent after the first boot. */
  pointer: z.object({ url: z.string(), status: z.int().exactOptional(), ...trouble }).exactOptional(),
  disks: z.array(z.object({ path: z.string(), freeBytes: z.number(), problem: z.string().exactOptional() })),
  /** Absent while containerd does not answer. */
  images: z.object({ needed: z.array(z.string()), missing: z.array(z.string()) }).exactOptional(),
  /** Absent on a machine that has no key of a client of etcd. */
  etcd: z
    .object({
      /** Whether the member of this machine accepts clients. */
      isListening: z.boolean(),
      /** Ports of the members on other machines, connected to by address. */
      peers: z.array(z.object({ address: z.string(), port: z.int(), ...trouble })),
      /** What the member of this machine reports; absent while it does not answer. */
      member: z
        .object({
          id: z.string(),
          isLearner: z.boolean(),
          /** Absent while it knows no leader. */
          leader: z.string().exactOptional(),
          alarms: z.array(z.string()),
          members: z.array(
            z.object({ id: z.string(), name: z.string(), isLearner: z.boolean(), peerUrls: z.array(z.string()) }),
          ),
        })
        .exactOptional(),
      /** What one write in a hundred takes at least. */
      fsyncP99Ms: z.number().exactOptional(),
    })
    .exactOptional(),
  units: z.array(
    z.object({ name: z.string(), active: z.string(), sub: z.string(), restarts: z.int(), lastWords: z.string() }),
  ),
});

export type InsideFacts = z.output<typeof insideFactsSchema>;
