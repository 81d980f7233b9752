// `firstlight machine-config apply`
import { waitOptions } from '../cluster/wait-options.ts';
import { argument } from '../frame/option.ts';
import { typedPath } from '../frame/paths.ts';
import { defineVerb } from '../frame/verb.ts';
import { rollOutOptions } from './options.ts';

export const machineConfigApplyVerb = defineVerb({
  description: [
    'Reads MachineConfigs, MachineConfigPools, KubeletConfigs and the MachineConfiguration from a file or a folder,',
    'renders every pool with them as the cluster would, and says what will happen: which machines change, in which',
    'order, which files and units, what is restarted or rebooted, what is in the way, and how long it may take. Then it',
    'asks, applies, and waits until every machine has it. What cannot be rendered, or not be brought to machines that',
    'exist, is refused before anything is written. Interrupted, the roll-out goes on; status --watch follows it.',
  ].join(' '),
  args: { file: argument('a file or folder with YAML or JSON') },
  options: { ...rollOutOptions, ...waitOptions },
  examples: [
    'firstlight machine-config apply 99-worker-sysctl.yaml',
    'firstlight machine-config apply machine-configs/ --dry-run',
    'firstlight machine-config apply 99-worker-sysctl.yaml --yes --no-wait',
  ],
  run: async (invocation) => {
    const { host, global, signal, args } = invocation;
    const { relative } = await import('node:path');
    const { connectCluster } = await import('../../cluster/cluster-kubeconfig.ts');
    const { applyObjects } = await import('../../cluster/pools/change-pools.ts');
    const { planApply } = await import('../../cluster/pools/plan-apply.ts');
    const { readPlanFacts } = await import('../../cluster/pools/plan-facts.ts');
    const { readApplied } = await import('../../cluster/pools/read-applied.ts');
    const { generatedBy } = await import('../frame/program.ts');
    const { beginRollOut } = await import('./begin-roll-out.ts');
    const { planText } = await import('./plan-text.ts');
    const shownName = (path: string): string => relative(host.environment.workingFolder, path);
    const given = await readApplied(host, { path: typedPath(host, args.file), shownName });
    await using client = await connectCluster(host, global.dir);
    const planned = planApply(await readPlanFacts({ host, client, signal }), given.objects, generatedBy);
    const plan = { ...planned, warnings: [...given.warnings, ...planned.warnings] };
    const objects = plan.objects.map(({ object: { kind, metadata }, change }) => ({
      kind,
      name: metadata.name,
      change,
    }));
    return await beginRollOut(invocation, {
      client,
      text: planText(plan),
      data: { ...plan, objects },
      question: 'Apply this?',
      command: 'firstlight machine-config apply',
      pools: plan.pools,
      carryOut: () => applyObjects(client, plan.objects, signal),
    });
  },
});
