// What prepares a node before its first kubelet, and the settings of the torcx bootstrapper.
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { textField } from './text-field.ts';

const manifestUrlSchema = textField({
  mistake: (text) => (/^https?:\/\/[^\s/]+\/\S*$/.test(text) ? undefined : 'is not a URL'),
  allowed: 'an http: or https: URL, in which {{.Board}} and {{.OSVersion}} are filled in',
});

const mappingsShape = z.object({
  kind: z.literal('VersionManifestV1'),
  versions: z.object({
    k8s: z.record(z.string().regex(/^\d+\.\d+$/), z.object({ docker: z.array(z.string()).min(1) })),
  }),
});

/** Keys as they are written: as a number, 1.10 would be 1.1. */
export function runtimeMappingsMistake(text: string): string | undefined {
  const document = parseDocument(text, { schema: 'failsafe' });
  if (document.errors.length > 0) return 'is not YAML';
  const { error } = mappingsShape.safeParse(document.toJS({ maxAliasCount: 10 }));
  const [issue] = error?.issues ?? [];
  return issue && `is not a VersionManifestV1: ${issue.path.join('.') || 'the document'}: ${issue.message}`;
}

const mappingsSchema = textField({
  mistake: runtimeMappingsMistake,
  allowed: 'YAML with kind: VersionManifestV1 and versions.k8s.<minor>.docker, the best version first',
});

const keyringSchema = textField({
  mistake: (text) =>
    /^-----BEGIN PGP PUBLIC KEY BLOCK-----$/m.test(text) ? undefined : 'is not an ASCII-armored OpenPGP key',
  allowed: '-----BEGIN PGP PUBLIC KEY BLOCK----- …',
});

const torcxSchema = z.strictObject({
  upgradeOS: z.boolean().default(true).meta({
    description: 'Ask for an update of the operating system first, and reboot into it where there is one.',
  }),
  manifestURL: manifestUrlSchema.optional().meta({
    description: 'Where the list of add-ons is, with its signature beside it; the public bucket when left out.',
    examples: ['https://mirror.example.test/manifests/{{.Board}}/{{.OSVersion}}/torcx_manifest.json'],
  }),
  runtimeMappings: mappingsSchema.optional().meta({
    description:
      'Which docker versions fit which Kubernetes, as YAML. When left out, the release says it for its own Kubernetes.',
    examples: ['kind: VersionManifestV1\nversions:\n  k8s:\n    "1.37":\n      docker: ["17.03"]\n'],
  }),
  keyring: keyringSchema.optional().meta({
    description:
      'The public keys that lists of add-ons are verified with. Without it, a machine whose system has torcx packages ' +
      'accepts no list and does not join.',
    examples: ['-----BEGIN PGP PUBLIC KEY BLOCK-----\n…\n-----END PGP PUBLIC KEY BLOCK-----\n'],
  }),
});

export const nodeBootstrapFields = {
  nodeBootstrap: z
    .enum(['none', 'torcx'])
    .default('none')
    .meta({
      description:
        'What runs once on every new node before its kubelet: none, or torcx, the bootstrapper that picks the docker ' +
        'add-on for the Kubernetes of the cluster and for the operating system. A system without torcx packages (the ' +
        'Debian of platform local) is told so and joins.',
    }),
  torcx: torcxSchema.optional().meta({ description: 'Settings of the torcx bootstrapper, with nodeBootstrap: torcx.' }),
};
