// A verb about the bootstrap works where the person stands: on the bootstrap machine itself, or at the asset folder of
// its cluster, from where the same verb is run inside the machine.
import { dirOptionVariable } from '../../contract/bootstrap-pause.ts';
import { runtimePaths } from '../../contract/machine-paths.ts';
import type { CommandResult, Invocation } from '../frame/verb.ts';

export async function onBootstrap(
  invocation: Invocation,
  words: readonly string[],
  here: () => Promise<CommandResult>,
): Promise<CommandResult> {
  const isMachine = (await invocation.host.files.facts(runtimePaths.environment)) !== undefined;
  return isMachine ? here() : fromWorkstation(invocation, words);
}

async function fromWorkstation(invocation: Invocation, words: readonly string[]): Promise<CommandResult> {
  const { host, signal, terminal, global } = invocation;
  const [{ mustFindCluster }, { bootstrapMachine }, { dirOption }, { ableTo }] = await Promise.all([
    import('../../cluster/find-cluster.ts'),
    import('../../cluster/bootstrap-machine.ts'),
    import('../../cluster/cluster-dir.ts'),
    import('../../platform/platform.ts'),
  ]);
  const cluster = await mustFindCluster(host, global.dir);
  const machine = await bootstrapMachine(cluster);
  const isText = global.output === 'text';
  const command = ['firstlight', ...words, '--log-level', global.logLevel, ...(isText ? [] : ['--output', 'json'])];
  const variables = {
    TERM: host.environment.variables['TERM'] ?? 'dumb',
    [dirOptionVariable]: dirOption(host, global.dir),
  };
  const key = { cluster: cluster.name, machine };
  const [program, ...args] = await ableTo(cluster.platform, 'commandInside')(key, { command, variables });
  if (isText) {
    const { code } = await host.processes.runInteractive(program, args, { signal });
    return { data: null, text: '', exit: code ?? 1 };
  }
  const { code, stdout, stderr } = await host.processes.run(program, args, { signal });
  terminal.err(stderr);
  const { jsonIfValid } = await import('../../host/json-if-valid.ts');
  return { data: jsonIfValid(stdout) ?? null, text: '', exit: code ?? 1 };
}

/** ` --dir lab` if the verb was typed at an asset folder: commands that we name must work there. */
export function typedDirOption({ host }: Pick<Invocation, 'host'>): string {
  return host.environment.variables[dirOptionVariable] ?? '';
}
