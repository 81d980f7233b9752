// A kubeconfig as data and as text: one cluster, one user, one context, everything inline so that the file can travel.
import { toYaml } from './yaml.ts';

export interface KubeconfigOptions {
  readonly cluster: string;
  readonly server: string;
  readonly caPem: string;
  readonly user: string;
  /** By certificate, by token, or by nothing: then whoever passes the file on adds one. */
  readonly credential?:
    | { readonly kind: 'certificate'; readonly certificatePem: string; readonly keyPem: string }
    | { readonly kind: 'token'; readonly token: string };
}

export function kubeconfig(options: KubeconfigOptions): object {
  const { cluster, user } = options;
  const context = `${user}@${cluster}`;
  const authority = { server: options.server, 'certificate-authority-data': base64(options.caPem) };
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: cluster, cluster: authority }],
    users: [{ name: user, user: credentialFields(options.credential) }],
    contexts: [{ name: context, context: { cluster, user } }],
    'current-context': context,
    preferences: {},
  };
}

export function kubeconfigText(options: KubeconfigOptions): string {
  return toYaml(kubeconfig(options));
}

function credentialFields(credential: KubeconfigOptions['credential']): object {
  if (credential === undefined) return {};
  if (credential.kind === 'token') return { token: credential.token };
  return {
    'client-certificate-data': base64(credential.certificatePem),
    'client-key-data': base64(credential.keyPem),
  };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
