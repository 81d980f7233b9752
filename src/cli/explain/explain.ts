// `firstlight explain`: one verb for every kind of thing that can be explained. Each kind is a row.
import type { CommandBody, CommandResult, Invocation } from '../frame/verb.ts';
import { cliErrors } from '../frame/errors.ts';

interface Kind {
  readonly name: string;
  readonly shows: string;
  readonly explain: (invocation: Invocation, name: string | undefined) => Promise<CommandResult>;
}

const kinds: readonly Kind[] = [
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
    name: 'error',
    shows: 'what an error means and what to do, e.g. error ASSET_CONFLICT',
    explain: async (_invocation, name) => (await import('./explain-error.ts')).explainError(name),
  },
  {
    name: 'torcx',
    shows: 'what the torcx bootstrapper knows about this node and would do',
    explain: async (invocation) => (await import('./explain-torcx.ts')).explainTorcx(invocation),
  },
];

export const explainCommand: CommandBody = async (invocation) => {
  if (invocation.options['jsonSchema'] === true) {
    return (await import('./explain-install-config.ts')).explainJsonSchema(invocation);
  }
  const [subject, name] = invocation.args;
  if (subject === undefined) return overview();
  const kind = kinds.find((candidate) => subject === candidate.name || subject.startsWith(`${candidate.name}.`));
  if (kind === undefined) {
    const reason = `${subject} cannot be explained; known are ${kinds.map((candidate) => candidate.name).join(', ')}`;
    throw cliErrors.USAGE({ reason, command: 'firstlight explain' });
  }
  return kind.explain(invocation, kind.name === 'installconfig' ? subject : name);
};

function overview(): CommandResult {
  const rows = kinds.map((kind) => `  firstlight explain ${kind.name.padEnd(14)} ${kind.shows}\n`);
  return { data: kinds.map(({ name, shows }) => ({ name, shows })), text: `What can be explained:\n${rows.join('')}` };
}
