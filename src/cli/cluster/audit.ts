// `firstlight audit`
import { working } from '../../contract/stage-progress.ts';
import { exitCodes } from '../../errors/exit-codes.ts';
import { choiceOf, flag, option, repeatableOption, text } from '../frame/option.ts';
import { defineVerb } from '../frame/verb.ts';

const areas = choiceOf(['control-plane', 'etcd', 'configuration', 'nodes', 'policies', 'folder']);

export const auditVerb = defineVerb({
  description:
    'Looks at the processes, files and settings inside every machine, at the API and at the asset folder, as they are now, and says for each control whether it passes, fails or does not apply, and why. Changes nothing. What cannot be looked at counts as a failure. The exit code is 9 when a control fails.',
  options: {
    area: option('--area <area>', 'only the controls of this area', areas),
    control: repeatableOption('--control <id>', 'only this control; may be repeated', text),
    all: flag('--all', 'list also the controls that pass'),
  },
  examples: [
    'firstlight audit',
    'firstlight audit --area nodes --all',
    'firstlight audit --control 1.2.1 -o json',
    'firstlight explain control 1.2.1',
  ],
  run: async ({ host, global, options, signal, emit }) => {
    const { audit } = await import('../../audit/audit.ts');
    const { benchmark } = await import('../../audit/control.ts');
    const { collectSecurity } = await import('../../audit/collect/collect-security.ts');
    const { connectCluster } = await import('../../cluster/cluster-kubeconfig.ts');
    const { mustFindCluster } = await import('../../cluster/find-cluster.ts');
    const { controlNamed } = await import('../explain/explain-control.ts');
    const { auditText } = await import('./audit-text.ts');
    const asked = options.control.map((id) => controlNamed(id, 'firstlight audit').id);
    const cluster = await mustFindCluster(host, global.dir);
    await using client = await connectCluster(host, global.dir);
    const report = (work: string): void => emit({ kind: 'stage-progress', stage: 'audit', progress: working(work) });
    const facts = await collectSecurity({ ...cluster, host, dir: global.dir, client, signal, report });
    const isAsked = (id: string, area: string): boolean =>
      (options.area === undefined || options.area === area) && (asked.length === 0 || asked.includes(id));
    const judged = audit(facts, isAsked);
    const head = { benchmark, cluster: cluster.clusterName };
    return {
      data: { ...head, counts: judged.counts, controls: judged.controls },
      text: auditText({ ...head, machines: facts.machines.length, report: judged, showsAll: options.all }),
      exit: judged.isWell ? exitCodes.ok : exitCodes.auditFailed,
    };
  },
});
