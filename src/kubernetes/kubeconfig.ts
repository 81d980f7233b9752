// Writes a kubeconfig, as data and as text: one cluster, one user, one context. PEM is inline where the file is copied
// to other machines, and by reference where it stays: clients read referenced files again and so use a renewed pair.
import { toYaml } from './yaml.ts';

export interface KubeconfigOptions {
  readonly cluster: string;
  readonly server: string;
  /** The CA of the server's certificate; by reference as `{ file }`. */
  readonly caPem: string | FileReference;
  readonly user: string;
  /** Without one, the file names no credential and the config server adds a token for each machine. */
  readonly credential?:
    | { readonly kind: 'certificate'; readonly certificatePem: string; readonly keyPem: string }
    | { readonly kind: 'files'; readonly certificate: FileReference; readonly key: FileReference }
    | { readonly kind: 'token'; readonly token: string }
    /** A token that somebody renews in place. */
    | { readonly kind: 'token-file'; readonly token: FileReference };
}

/** A path on the machine that uses the kubeconfig; a relative one starts at the kubeconfig's own folder. */
export interface FileReference {
  readonly file: string;
}

export function kubeconfig(options: KubeconfigOptions): object {
  const { cluster, user } = options;
  const context = `${user}@${cluster}`;
  const ca =
    typeof options.caPem === 'string'
      ? { 'certificate-authority-data': base64(options.caPem) }
      : { 'certificate-authority': options.caPem.file };
  const authority = { server: options.server, ...ca };
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
  if (credential.kind === 'token-file') return { tokenFile: credential.token.file };
  if (credential.kind === 'files') {
    return { 'client-certificate': credential.certificate.file, 'client-key': credential.key.file };
  }
  return {
    'client-certificate-data': base64(credential.certificatePem),
    'client-key-data': base64(credential.keyPem),
  };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
