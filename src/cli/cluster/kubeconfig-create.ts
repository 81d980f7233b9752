// `firstlight kubeconfig create`
import { argument, flag, option, optionWithDefault, repeatableOption, text, type ValueKind } from '../frame/option.ts';
import { typedPath } from '../frame/paths.ts';
import { defineVerb } from '../frame/verb.ts';

const unitSeconds: Readonly<Record<string, number>> = { m: 60, h: 3600, d: 86_400 };
const shortestSeconds = 600;
const longestSeconds = 365 * 86_400;

/** `8h`; the API signs nothing for less than ten minutes, and no certificate of ours lives longer than a year. */
const lifetime: ValueKind<string> = {
  parse: (word) => {
    const seconds = secondsOf(word);
    return seconds >= shortestSeconds && seconds <= longestSeconds ? word : undefined;
  },
  expected: 'a time such as 90m, 8h or 30d, from 10m to 365d',
};

function secondsOf(word: string): number {
  const [, count = '', unit = ''] = /^(\d{1,9})([mhd])$/.exec(word) ?? [];
  return Number(count) * (unitSeconds[unit] ?? 0);
}

export const kubeconfigCreateVerb = defineVerb({
  description: [
    'Makes a key here, files a CertificateSigningRequest for the signer kubernetes.io/kube-apiserver-client, approves it',
    'with the rights of the administrator, and writes a kubeconfig that only you can read. What the person may do is what',
    'RBAC gives their name and groups: bind a role to the group before or after. A certificate cannot be taken back before',
    'it ends, so let it be short and take the rights from the group instead. Where people have an identity provider, name',
    'it under authentication in the install-config: they then log in with its tokens.',
  ].join(' '),
  args: { name: argument('who the person is to the cluster') },
  options: {
    group: repeatableOption('--group <group>', 'a group of the person; repeat it for more', text),
    expires: optionWithDefault(
      '--expires <time>',
      'how long the certificate lives, such as 90m, 8h or 30d',
      lifetime,
      '30d',
    ),
    to: option('--to <file>', 'where the kubeconfig goes (default: auth/people/<name>.kubeconfig of the folder)', text),
    replace: flag('--replace', 'write over a file that is there'),
  },
  examples: [
    'firstlight kubeconfig create ada --group developers',
    'kubectl create clusterrolebinding developers --clusterrole=edit --group=developers',
    'firstlight kubeconfig create ada --group developers --expires 8h --to ada.kubeconfig',
  ],
  run: async ({ host, global, signal, args, options }) => {
    const { join } = await import('node:path');
    const { connectCluster, kubeconfigFile } = await import('../../cluster/cluster-kubeconfig.ts');
    const { mustFindCluster } = await import('../../cluster/find-cluster.ts');
    const { makePersonKubeconfig, personMistake } = await import('../../cluster/person-kubeconfig.ts');
    const { clusterErrors } = await import('../../cluster/errors.ts');
    const person = { name: args.name, groups: options.group, lifeSeconds: secondsOf(options.expires) };
    const mistake = personMistake(person);
    if (mistake !== undefined) throw clusterErrors.PERSON_REFUSED({ reason: mistake });
    const { clusterName } = await mustFindCluster(host, global.dir);
    const file =
      options.to === undefined
        ? join(global.dir, 'auth/people', `${args.name}.kubeconfig`)
        : typedPath(host, options.to);
    const adminKubeconfig = await kubeconfigFile(host, global.dir);
    await using client = await connectCluster(host, global.dir);
    const made = await makePersonKubeconfig({
      host,
      client,
      clusterName,
      adminKubeconfig,
      person,
      file,
      mayReplace: options.replace,
      signal,
    });
    const until = made.notAfter
      .toISOString()
      .replace(/:\d\d\.\d+Z$/, 'Z')
      .replace('T', ' ');
    const groups = made.groups.length === 0 ? 'in no group' : `in ${made.groups.join(', ')}`;
    return { data: made, text: `${file}\n${made.user}, ${groups}, until ${until}\n` };
  },
});
