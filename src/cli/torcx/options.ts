// The flags of both torcx verbs. torcx/settings.ts reads their values, with the checks and messages of the original.
// Booleans take Go's forms (`--upgrade-os=false`, `=0`, `=F`), because units and manifests written for the original use
// them; torcx/program-names.ts has the names that they call.
import type { TorcxFlag } from '../../torcx/settings.ts';
import { option, optionWithDefault, optionWithOptionalWord, text, type VerbOption } from '../frame/option.ts';

type TorcxOptions = Readonly<Partial<Record<TorcxFlag, VerbOption<string | boolean | undefined>>>>;

const sharedOptions = {
  kubeconfig: option('--kubeconfig <path>', 'how to reach the API server (default /etc/kubernetes/kubeconfig)', text),
  torcxBin: option('--torcx-bin <path>', 'use this torcx program instead of the built-in implementation', text),
  torcxManifestUrl: option(
    '--torcx-manifest-url <template>',
    'URL of the package list; {{.Board}} and {{.OSVersion}} are filled in (default the public bucket)',
    text,
  ),
  torcxProfile: optionWithDefault('--torcx-profile <name>', 'profile to make when none is active', text, 'tectonic'),
  forceKubeVersion: option(
    '--force-kube-version <version>',
    'take this Kubernetes version instead of finding it out',
    text,
  ),
  verifySignatures: optionWithOptionalWord(
    '--no-verify-signatures [bool]',
    'neither fetch nor check the signature of package lists',
  ),
  strictKeyExpiry: optionWithOptionalWord(
    '--strict-key-expiry [bool]',
    'refuse keys that expired after they signed, too; all keys of the original publisher have',
    true,
  ),
  requireBoundLists: optionWithOptionalWord(
    '--require-bound-lists [bool]',
    'refuse package lists that do not name their board and osVersion',
  ),
  keyring: optionWithDefault('--keyring <path>', 'public keys, ASCII-armored', text, '/pubring.gpg'),
  versionManifest: option('--version-manifest <path>', 'local runtime mappings', text),
  verbose: optionWithDefault('--verbose <level>', 'what to tell: panic, fatal, error, warn, info, debug', text, 'info'),
  caFile: option(
    '--ca-file <path>',
    'authorities for the bucket (default SSL_CERT_FILE, then /etc/ssl/certs/ca-certificates.crt)',
    text,
  ),
  root: optionWithDefault('--root <folder>', 'put before every path of the node', text, '/'),
  dryRun: optionWithOptionalWord(
    '--dry-run [bool]',
    'say what is known, what follows and what would be done; change nothing',
  ),
  apiTimeout: optionWithDefault('--api-timeout <seconds>', 'for one answer of the API server', text, '10'),
  bucketTimeout: optionWithDefault('--bucket-timeout <seconds>', 'for the next byte of the bucket', text, '30'),
  pauseScale: optionWithDefault('--pause-scale <factor>', 'multiplies every pause between two tries', text, '1'),
} satisfies TorcxOptions;

export const torcxBootstrapOptions = {
  upgradeOs: optionWithOptionalWord('--upgrade-os [bool]', 'ask for an OS update first and wait for it', true),
  torcxSkipSetup: optionWithOptionalWord(
    '--torcx-skip-setup [bool]',
    'leave add-ons and profiles alone; only write kubelet.env',
  ),
  kubeletEnvPath: option(
    '--kubelet-env-path <path>',
    'the file that lets the kubelet start; empty writes none (default /etc/kubernetes/kubelet.env)',
    text,
  ),
  mappingsNamespace: optionWithDefault(
    '--mappings-namespace <name>',
    'where the ConfigMap with the runtime mappings is',
    text,
    'tectonic-system',
  ),
  updateDeadline: optionWithDefault('--update-deadline <seconds>', 'for an OS update to be ready', text, '2700'),
  rebootDeadline: optionWithDefault('--reboot-deadline <seconds>', 'for an accepted reboot to happen', text, '600'),
  ...sharedOptions,
} satisfies TorcxOptions;

export const torcxHookOptions = {
  nodeAnnotation: option(
    '--node-annotation <key>',
    'set this annotation of the node to "true" when it is prepared',
    text,
  ),
  nodeName: option('--node-name <name>', 'the node this runs on (default the variable NODE)', text),
  requireNextVersion: optionWithOptionalWord(
    '--require-next-version [bool]',
    'fail where no OS update is waiting for a reboot',
  ),
  sleep: optionWithDefault('--sleep <seconds>', 'after success, stay for ever, looking up every so often', text, '0'),
  ...sharedOptions,
} satisfies TorcxOptions;
