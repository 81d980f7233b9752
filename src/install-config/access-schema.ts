// The fields about access: SSH keys, the pull secret, the proxy and additional certificates.
import { z } from 'zod';
import { noProxyMistake, proxyMistake, pullSecretMistake, trustBundleMistake } from './credentials.ts';
import { sshKeysMistake, sshKeyTypes } from './ssh-public-key.ts';
import { textField } from './text-field.ts';

const sshKeySchema = textField({
  mistake: sshKeysMistake,
  allowed: `public keys, one a line, of the types ${sshKeyTypes.join(', ')}`,
}).meta({
  description: 'Public keys that may log in to every machine as the user core, one a line.',
  examples: ['ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI… somebody@somewhere'],
});

const pullSecretSchema = textField({
  mistake: pullSecretMistake,
  allowed: '{"auths":{"registry.example.test":{"auth":"…"}}}',
}).meta({
  description:
    'Credentials for registries, as JSON. The kubelet of every machine pulls images with them; the API never has them. ' +
    'Nothing Firstlight installs needs any; give them for images of your own.',
  writeOnly: true,
  examples: ['{"auths":{"registry.example.test":{"auth":"dXNlcjpwYXNz"}}}'],
});

const proxySchema = z.strictObject({
  httpProxy: textField({ mistake: (text) => proxyMistake(text, ['http:']), allowed: 'http://host:port' })
    .optional()
    .meta({ description: 'For http: URLs.', writeOnly: true, examples: ['http://proxy.example.test:3128'] }),
  httpsProxy: textField({
    mistake: (text) => proxyMistake(text, ['http:', 'https:']),
    allowed: 'http://host:port or https://host:port',
  })
    .optional()
    .meta({ description: 'For https: URLs.', writeOnly: true, examples: ['http://proxy.example.test:3128'] }),
  noProxy: textField({
    mistake: noProxyMistake,
    allowed: 'addresses, ranges and domains with commas between them; .example.test takes in all below it',
  })
    .optional()
    .meta({
      description: 'What is reached directly. The cluster’s own names and ranges are always added.',
      examples: ['.example.test,10.0.0.0/8'],
    }),
});

const trustBundleSchema = textField({
  mistake: trustBundleMistake,
  allowed: 'one or more PEM certificates',
}).meta({
  description: 'Certificates of authorities that machines trust besides those of their system, as PEM.',
  examples: ['-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----\n'],
});

export const accessFields = {
  sshKey: sshKeySchema.optional(),
  pullSecret: pullSecretSchema.optional(),
  proxy: proxySchema.optional().meta({ description: 'The way out, where machines reach the world through a proxy.' }),
  additionalTrustBundle: trustBundleSchema.optional(),
  additionalTrustBundlePolicy: z.enum(['Proxyonly', 'Always']).default('Proxyonly').meta({
    description: 'When machines trust additionalTrustBundle: only if a proxy is set, or always.',
  }),
};
