// The choices of users about disruptions: spec.nodeDisruptionPolicy of MachineConfiguration `cluster`, with upstream's
// fields. An entry replaces the rule of ours for the same path or unit; what no entry and no rule matches is rebooted.
import { z } from 'zod';
import { machineConfigurationObject } from '../contract/machine-config-node.ts';
import { type DisruptionAction, type DisruptionPolicies, noDisruptionPolicies } from './disruption.ts';
import { machineConfigErrors } from './errors.ts';

const unitName = z.string().regex(/^[A-Za-z0-9:_.\\@-]+\.[a-z]+$/, 'is no name of a unit');
const unitAction = z.object({ serviceName: unitName });

const policyActionSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('None') }),
  z.object({ type: z.literal('Drain') }),
  z.object({ type: z.literal('DaemonReload') }),
  z.object({ type: z.literal('Reboot') }),
  z.object({ type: z.literal('Reload'), reload: unitAction }),
  z.object({ type: z.literal('Restart'), restart: unitAction }),
]);
export const policyActionTypes = policyActionSchema.options.map((option) => option.shape.type.value);
type PolicyAction = z.output<typeof policyActionSchema>;

const actionsSchema = z
  .array(policyActionSchema)
  .min(1)
  .refine(
    (actions) => actions.length === 1 || actions.every(({ type }) => type !== 'None' && type !== 'Reboot'),
    'None and Reboot stand alone',
  );

const machineConfigurationSchema = z.object({
  apiVersion: z.literal(machineConfigurationObject.apiVersion),
  kind: z.literal(machineConfigurationObject.kind),
  spec: z.object({
    nodeDisruptionPolicy: z
      .object({
        files: z
          .array(z.object({ path: z.string().regex(/^\/./, 'is no absolute path'), actions: actionsSchema }))
          .default([]),
        units: z.array(z.object({ name: unitName, actions: actionsSchema })).default([]),
        sshkey: z.object({ actions: actionsSchema }).exactOptional(),
      })
      .prefault({}),
  }),
});

/**
 * `object`: MachineConfiguration `cluster` as the API has it; undefined where there is none. Throws
 * MACHINECONFIG_POLICIES: to change machines by other rules than those that the user wrote would be worse than to wait.
 */
export function disruptionPolicies(object: unknown): DisruptionPolicies {
  if (object === undefined) return noDisruptionPolicies;
  const read = machineConfigurationSchema.safeParse(object);
  if (!read.success)
    throw machineConfigErrors.POLICIES({ mistakes: read.error.issues.map((issue) => issueText(issue)) });
  const { files, units, sshkey } = read.data.spec.nodeDisruptionPolicy;
  return {
    files: files.map(({ path, actions }) => ({ path: path.replace(/\/+$/, ''), actions: actions.map(actionOf) })),
    units: units.map(({ name, actions }) => ({ name, actions: actions.map(actionOf) })),
    sshKeys: sshkey?.actions.map(actionOf),
  };
}

function issueText({ path, message }: z.core.$ZodIssue): string {
  return `${path.map(String).join('.')}: ${message}`;
}

function actionOf(action: PolicyAction): DisruptionAction {
  switch (action.type) {
    case 'None':
      return { kind: 'none' };
    case 'Drain':
      return { kind: 'drain' };
    case 'DaemonReload':
      return { kind: 'daemon-reload' };
    case 'Reboot':
      return { kind: 'reboot' };
    case 'Reload':
      return { kind: 'reload', unit: action.reload.serviceName };
    case 'Restart':
      return { kind: 'restart', unit: action.restart.serviceName };
  }
}
