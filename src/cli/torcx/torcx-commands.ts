// The verbs of the torcx bootstrapper. Booleans take Go's forms (`--upgrade-os=false`, `=0`, `=F`), because units and
// manifests written for the original use them; see torcx/program-names.ts for the names they call.
import type { CommandSpec, OptionSpec } from '../frame/verb.ts';

const shared: readonly OptionSpec[] = [
  { flags: '--kubeconfig <path>', description: 'how to reach the API server (default /etc/kubernetes/kubeconfig)' },
  { flags: '--torcx-bin <path>', description: 'use this torcx program instead of the built-in implementation' },
  {
    flags: '--torcx-manifest-url <template>',
    description: 'URL of the package list; {{.Board}} and {{.OSVersion}} are filled in (default the public bucket)',
  },
  { flags: '--torcx-profile <name>', description: 'profile to make when none is active', defaultValue: 'tectonic' },
  { flags: '--force-kube-version <version>', description: 'take this Kubernetes version instead of finding it out' },
  { flags: '--no-verify-signatures [bool]', description: 'neither fetch nor check the signature of package lists' },
  { flags: '--strict-key-expiry [bool]', description: 'refuse keys that expired after they signed, too' },
  { flags: '--keyring <path>', description: 'public keys, ASCII-armored', defaultValue: '/pubring.gpg' },
  { flags: '--version-manifest <path>', description: 'local runtime mappings' },
  {
    flags: '--verbose <level>',
    description: 'what to tell: panic, fatal, error, warn, info, debug',
    defaultValue: 'info',
  },
  {
    flags: '--ca-file <path>',
    description: 'authorities for the bucket (default SSL_CERT_FILE, then /etc/ssl/certs/ca-certificates.crt)',
  },
  { flags: '--root <folder>', description: 'put before every path of the node', defaultValue: '/' },
  { flags: '--dry-run [bool]', description: 'say what is known, what follows and what would be done; change nothing' },
  { flags: '--api-timeout <seconds>', description: 'for one answer of the API server', defaultValue: '10' },
  { flags: '--bucket-timeout <seconds>', description: 'for the next byte of the bucket', defaultValue: '30' },
  { flags: '--pause-scale <factor>', description: 'multiplies every pause between two tries', defaultValue: '1' },
];

const bootstrapOptions: readonly OptionSpec[] = [
  { flags: '--upgrade-os [bool]', description: 'ask for an OS update first and wait for it', defaultValue: true },
  { flags: '--torcx-skip-setup [bool]', description: 'leave add-ons and profiles alone; only write kubelet.env' },
  {
    flags: '--kubelet-env-path <path>',
    description: 'the file that lets the kubelet start; empty writes none (default /etc/kubernetes/kubelet.env)',
  },
  {
    flags: '--mappings-namespace <name>',
    description: 'where the ConfigMap with the runtime mappings is',
    defaultValue: 'tectonic-system',
  },
  { flags: '--update-deadline <seconds>', description: 'for an OS update to be ready', defaultValue: '2700' },
  { flags: '--reboot-deadline <seconds>', description: 'for an accepted reboot to happen', defaultValue: '600' },
  ...shared,
];

const hookOptions: readonly OptionSpec[] = [
  { flags: '--node-annotation <key>', description: 'set this annotation of the node to "true" when it is prepared' },
  { flags: '--node-name <name>', description: 'the node this runs on (default the variable NODE)' },
  { flags: '--require-next-version [bool]', description: 'fail where no OS update is waiting for a reboot' },
  {
    flags: '--sleep <seconds>',
    description: 'after success, stay for ever, looking up every so often',
    defaultValue: '0',
  },
  ...shared,
];

export const torcxCommands: readonly CommandSpec[] = [
  {
    path: ['torcx', 'bootstrap'],
    summary: 'Prepare a new node: install the docker that fits, write kubelet.env, reboot if needed.',
    description:
      'Runs once on a new node, before its kubelet. It asks the cluster, or the files of the installer, which Kubernetes this is and which docker versions fit; it asks update_engine which OS boots next; it fetches the signed package lists of both OS versions, installs the best version for them and writes kubelet.env as its last act. A bucket that cannot be reached, or whose signature is wrong, fails the run, and the kubelet does not start.',
    options: bootstrapOptions,
    examples: [
      'firstlight torcx bootstrap --upgrade-os=false',
      'firstlight torcx bootstrap --torcx-skip-setup=true',
      'firstlight torcx bootstrap --dry-run -o json',
    ],
    load: async () => (await import('./bootstrap.ts')).torcxBootstrap,
  },
  {
    path: ['torcx', 'hook-pre'],
    summary: 'Prepare a node for the OS update that waits for a reboot, then say so on its Node object.',
    description:
      'Runs in the cluster on a node that is about to be rebooted into an OS update. It installs the docker that fits for the next OS, removes stores that no OS boots any more, and sets the annotation for which the update operator waits. It never reboots.',
    options: hookOptions,
    examples: ['firstlight torcx hook-pre --node-annotation=example.com/torcx-ok --sleep=604800'],
    load: async () => (await import('./hook-pre.ts')).torcxHookPre,
  },
];
