// Stage 4: whom the API server believes beside certificates: the issuers of tokens that the install-config names, and
// nobody without a name but for health. It is made from the ControllerConfig, as the same file of masters is. There is
// no OAuth server of our own: an issuer is the user's.
import { basename, join } from 'node:path';
import { parse as parseYaml } from 'yaml';
import { noIssuers } from '../../contract/authentication-settings.ts';
import { apiserverConfigFiles } from '../../contract/machine-paths.ts';
import { FirstlightError } from '../../errors/firstlight-error.ts';
import { loadControllerConfig } from '../../machine-config/load-objects.ts';
import {
  authenticationConfigurationSchema,
  authenticationConfigurationText,
  systemNameRules,
} from '../../machine-software/authentication-configuration.ts';
import { readBundle } from '../../pki/certificate.ts';
import { renderStage, type StageCheck, stageFolder } from '../render-stage.ts';

const identity = { number: 4, name: 'authentication' } as const;
const output = basename(apiserverConfigFiles.authentication);

/** What the file of the stage says must be what an API server can use: with a wrong one it does not start. */
const isUsable: StageCheck = {
  name: 'an API server can use it, and nobody without a name gets further than health',
  run: async ({ host, folders }) => {
    const text = await host.files.readText(join(folders.render, stageFolder(identity), output));
    const read = authenticationConfigurationSchema.safeParse(parseYaml(text));
    if (!read.success) {
      const [issue] = read.error.issues;
      return `${output}: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`;
    }
    for (const { issuer, userValidationRules = [] } of read.data.jwt ?? []) {
      const { url, certificateAuthority } = issuer;
      if (certificateAuthority !== undefined && !holdsCertificates(certificateAuthority))
        return `${output}: the certificateAuthority of ${url} is no certificate`;
      const expressions = userValidationRules.map(({ expression }) => expression);
      if (systemNameRules.some(({ expression }) => !expressions.includes(expression)))
        return `${output}: ${url} may give names that begin with system:`;
    }
    return undefined;
  },
};

function holdsCertificates(pem: string): boolean {
  try {
    return readBundle(pem).length > 0;
  } catch (error) {
    if (error instanceof FirstlightError) return false;
    throw error;
  }
}

export const authentication = renderStage({
  ...identity,
  why: 'Renders how every API server finds out who a caller is: tokens of the issuers in the install-config, beside certificates.',
  variable: 'AUTHENTICATION_OPERATOR_IMAGE',
  inputs: ['render/01-manifests'],
  outputs: [output],
  render: async ({ host, folders }) => {
    const manifests = join(folders.render, stageFolder({ number: 1, name: 'manifests' }));
    const settings = (await loadControllerConfig(host, manifests))?.spec.authentication ?? noIssuers;
    return [{ path: output, content: authenticationConfigurationText(settings) }];
  },
  verify: [isUsable],
});
