// The install-config: one definition that gives the types, the defaults, the messages, the JSON Schema and the text of
// `explain`. Field names and rules are those of openshift-install v1, so that its users know them; every field has a
// default, so that an empty file is a cluster. What relates one field to another is in rules.ts.
import { z } from 'zod';
import { accessFields } from './access-schema.ts';
import type { Architecture } from './architecture.ts';
import { authenticationSchema } from './authentication-schema.ts';
import { dnsSubdomainAllowed, dnsSubdomainMistake, dnsSubdomainPattern, endsLikeAnAddress } from './dns-name.ts';
import { machineFields } from './machines-schema.ts';
import { networkingSchema } from './networking-schema.ts';
import { nodeBootstrapFields } from './node-bootstrap-schema.ts';
import { optionFields } from './options-schema.ts';
import { securitySchema } from './security-schema.ts';
import { textField } from './text-field.ts';

/** What is left of a label's 63 characters when the longest suffix for generated names is taken off. */
const clusterNameMax = 54;

const clusterNameSchema = textField({
  mistake: (text) => (text.length > clusterNameMax ? `has ${text.length} characters` : dnsSubdomainMistake(text)),
  allowed: `${dnsSubdomainAllowed}, at most ${clusterNameMax} characters`,
});

const baseDomainSchema = textField({
  mistake: (text) => {
    const name = text.replace(/\.$/, '');
    return endsLikeAnAddress(name) ? 'would be read as an IP address' : dnsSubdomainMistake(name);
  },
  allowed: `a DNS name: ${dnsSubdomainAllowed}`,
}).overwrite((text) => text.replace(/\.$/, ''));

const onlyV1 = (issue: { readonly code?: string; readonly input?: unknown }) => {
  if (issue.code !== 'invalid_value') return undefined;
  const isOlder = issue.input === 'v1beta3' || issue.input === 'v1beta4';
  return isOlder
    ? 'is an older form that is not converted; rewrite the file as v1'
    : 'is not a version Firstlight reads';
};

const platformSchema = z
  .strictObject({
    local: z
      .strictObject({})
      .optional()
      .meta({ description: 'Machines on this host, made by Firstlight with systemd-nspawn, each in its own network.' }),
    none: z.strictObject({}).optional().meta({
      description: 'You start the machines with the Ignition configs, and provide DNS and the load balancer.',
    }),
  })
  .prefault({ local: {} })
  .meta({
    description: 'Where machines come from, exactly one: local (this host makes them) or none (you bring them).',
  });

const metadataSchema = z.strictObject({
  name: clusterNameSchema.default('demo').meta({
    pattern: dnsSubdomainPattern,
    maxLength: clusterNameMax,
    description: 'The name of the cluster; with baseDomain it makes the domain of everything in it.',
  }),
  creationTimestamp: z.null().optional().meta({ description: 'Written by openshift-install; must be empty.' }),
});

const makeSchema = (architecture: Architecture) =>
  z.strictObject({
    $schema: z.string().optional().meta({ description: 'Where the JSON Schema is, for editors. Not read.' }),
    apiVersion: z.literal('v1', { error: onlyV1 }).default('v1').meta({ description: 'The form of this file.' }),
    metadata: metadataSchema.prefault({}).meta({ description: 'What the cluster is called.' }),
    baseDomain: baseDomainSchema.default('firstlight.test').meta({
      maxLength: 253,
      description:
        'The domain the cluster lives in: with the name demo, its API is api.demo.<baseDomain>. Platform local ' +
        'answers for it by itself; elsewhere your DNS must.',
    }),
    platform: platformSchema,
    ...machineFields(architecture),
    networking: networkingSchema
      .prefault({})
      .meta({ description: 'The address ranges of machines, pods and Services.' }),
    security: securitySchema.prefault({}).meta({
      description:
        'How far the cluster is hardened. The defaults are meant for production; each field says what it costs to differ.',
    }),
    authentication: authenticationSchema.prefault({}).meta({
      description: 'How people log in beside the administrator’s certificate: issuers of tokens (OIDC).',
    }),
    ...accessFields,
    ...nodeBootstrapFields,
    ...optionFields,
  });

const made = new Map<Architecture, ReturnType<typeof makeSchema>>();

/** `architecture` is that of the machine firstlight runs on: the default of both pools. */
export function installConfigSchema(architecture: Architecture): ReturnType<typeof makeSchema> {
  const schema = made.get(architecture) ?? makeSchema(architecture);
  made.set(architecture, schema);
  return schema;
}

/** The install-config with every default filled in: what the rest of the program works with. */
export type InstallConfig = z.output<ReturnType<typeof installConfigSchema>>;
/** What a user may write. */
export type InstallConfigInput = z.input<ReturnType<typeof installConfigSchema>>;
export type InstallConfigHost = InstallConfig['hosts'][number];
