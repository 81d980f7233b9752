// `firstlight explain`: one verb for every kind of thing that can be explained. Each kind is a row.
import { cliErrors } from '../frame/errors.ts';
import { flag, optionalArgumentList } from '../frame/option.ts';
import { type CommandResult, defineVerb, type Invocation } from '../frame/verb.ts';

interface ExplainedKind {
  readonly name: string;
  readonly shows: string;
  readonly explain: (invocation: Invocation, name: string | undefined) => Promise<CommandResult>;
}

const kinds: readonly ExplainedKind[] = [
  {
    name: 'installconfig',
    shows: 'the fields of install-config.yaml, e.g. installconfig.networking',
    explain: async (invocation, name) =>
      (await import('./explain-install-config.ts')).showInstallConfigField(invocation, name ?? 'installconfig'),
  },
  {
    name: 'asset',
    shows: 'what a file of the asset folder is for, e.g. asset root-ca',
    explain: async (_invocation, name) => (await import('./explain-asset.ts')).explainAsset(name),
  },
  {
    name: 'pki',
    shows: 'every signer and certificate: what for, held by whom, e.g. pki etcd-signer',
    explain: async (_invocation, name) => (await import('./explain-pki.ts')).explainPki(name),
  },
  {
    name: 'stage',
    shows: 'a stage of the bootstrap: why, the command of the original, and what renders it, e.g. stage etcd',
    explain: async ({ host }, name) => (await import('./explain-stage.ts')).explainStage(host, name),
  },
  {
    name: 'error',
    shows: 'what an error means and what to do, e.g. error ASSET_CONFLICT',
    explain: async (_invocation, name) => (await import('./explain-error.ts')).explainError(name),
  },
  {
    name: 'control',
    shows: 'what a control of the audit looks at and why, e.g. control 1.2.1',
    explain: async (_invocation, name) => (await import('./explain-control.ts')).explainControl(name),
  },
  {
    name: 'phase',
    shows: 'the phases of an attempt in place, e.g. phase KubeletStopped',
    explain: async (_invocation, name) => (await import('./explain-phase.ts')).explainPhase(name),
  },
  {
    name: 'preflight',
    shows: 'the checks before an attempt in place, e.g. preflight P10',
    explain: async (_invocation, name) => (await import('./explain-preflight.ts')).explainPreflight(name),
  },
  {
    name: 'torcx',
    shows: 'what the torcx bootstrapper knows about this node and would do',
    // With its default flags; for others there is `firstlight torcx bootstrap --dry-run …`, which is the same.
    explain: async (invocation) => (await import('../torcx/bootstrap.ts')).bootstrapNode(invocation, { dryRun: true }),
  },
];

export const explainVerb = defineVerb({
  description:
    'Explains fields of the install-config (installconfig.networking), assets (asset root-ca), signers and certificates (pki), stages of the bootstrap (stage etcd), errors (error ASSET_CONFLICT), controls of the audit (control 1.2.1), phases of an attempt in place (phase Ready), the checks before it (preflight P10) and what the torcx bootstrapper would do on this node (torcx). Without a subject it lists what there is.',
  args: {
    subject: optionalArgumentList(
      'installconfig[.path], asset NAME, pki [NAME], stage [NAME], error CODE, control ID, phase [NAME], preflight [ID], torcx',
    ),
  },
  options: { jsonSchema: flag('--json-schema', 'print the JSON Schema of the install-config') },
  examples: [
    'firstlight explain installconfig.networking',
    'firstlight explain asset bootstrap-ignition',
    'firstlight explain pki etcd-signer',
    'firstlight explain error ASSET_CONFLICT',
    'firstlight explain --json-schema > install-config.schema.json',
  ],
  run: async (invocation) => {
    const { args, options } = invocation;
    if (options.jsonSchema) return (await import('./explain-install-config.ts')).explainJsonSchema(invocation);
    const [subject, name] = args.subject;
    if (subject === undefined) return overview();
    const kind = kinds.find((candidate) => subject === candidate.name || subject.startsWith(`${candidate.name}.`));
    if (kind === undefined) {
      const reason = `${subject} cannot be explained; known are ${kinds.map((candidate) => candidate.name).join(', ')}`;
      throw cliErrors.USAGE({ reason, command: 'firstlight explain' });
    }
    return kind.explain(invocation, kind.name === 'installconfig' ? subject : name);
  },
});

function overview(): CommandResult {
  const rows = kinds.map((kind) => `  firstlight explain ${kind.name.padEnd(14)} ${kind.shows}\n`);
  return { data: kinds.map(({ name, shows }) => ({ name, shows })), text: `What can be explained:\n${rows.join('')}` };
}
