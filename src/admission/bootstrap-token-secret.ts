// Single-use tokens as Secrets, which kube-apiserver's token authenticator reads. The first approval of a request takes
// the token: `takeBootstrapToken` is a compare-and-set, so two approvers cannot both succeed. A taken token still
// authenticates until it is deleted, because its machine fetches the certificate with it.
import { systemNamespace } from '../contract/cluster-objects.ts';
import { isError } from '../errors/firstlight-error.ts';
import type { Random } from '../host/random.ts';
import { Secret } from '../host/secret.ts';
import type { ApiCallOptions, KubernetesClient } from '../kubernetes/client.ts';
import { kubernetesErrors } from '../kubernetes/errors.ts';
import type { KubernetesObject, ObjectReference } from '../kubernetes/object.ts';
import { newBootstrapToken, tokenId, tokenLifeMs } from './bootstrap-token.ts';

export const tokenSecretType = 'bootstrap.kubernetes.io/token';
export const bootstrapperGroup = 'system:bootstrappers:nodes';

const annotations = {
  pool: 'firstlight.io/pool',
  issuedAt: 'firstlight.io/issued-at',
  issuedToAddress: 'firstlight.io/issued-to-address',
  usedBy: 'firstlight.io/used-by',
  usedByRequest: 'firstlight.io/used-by-request',
  usedByKey: 'firstlight.io/used-by-key',
  usedAt: 'firstlight.io/used-at',
  keysGivenAt: 'firstlight.io/keys-given-at',
  keysGivenTo: 'firstlight.io/keys-given-to',
  keysHeldBy: 'firstlight.io/keys-held-by',
} as const;

/** What is known of a token without its secret half. */
export interface BootstrapToken {
  readonly id: string;
  readonly pool: string;
  readonly expiresAt: Date;
  readonly issuedToAddress?: string;
  readonly used?: TokenUse;
  /** The keys of a master were given for it: when, and to which machine (a digest of what that machine chose). */
  readonly keysGiven?: KeysGiven;
  /** The machine that has recorded that it holds those keys: the token is not needed for them any more. */
  readonly keysHeldBy?: string;
  readonly resourceVersion: string;
}

/** Which request took the token, for which node, when. */
export interface TokenUse {
  readonly by: string;
  readonly requestUid: string;
  /** The digest of the public key of that request. Absent where an older approver took the token. */
  readonly keyDigest?: string;
  readonly at: Date;
}

export interface KeysGiven {
  readonly at: Date;
  readonly to: string;
}

export interface IssueTokenOptions extends ApiCallOptions {
  readonly random: Random;
  readonly now: Date;
  readonly pool: string;
  /** Of the machine that asked, where a trusted load balancer told it. */
  readonly address?: string;
}

export interface IssuedToken {
  readonly id: string;
  /** `id.secret`, for the kubeconfig of a machine that joins. */
  readonly token: Secret;
}

/** The token is stored when this returns, and may be sent only then. */
export async function issueBootstrapToken(client: KubernetesClient, options: IssueTokenOptions): Promise<IssuedToken> {
  const { random, now, pool, address, signal, deadlineMs } = options;
  const text = newBootstrapToken(random);
  const token = new Secret(text);
  const expiresAt = new Date(now.getTime() + tokenLifeMs);
  const call = { ...(signal === undefined ? {} : { signal }), ...(deadlineMs === undefined ? {} : { deadlineMs }) };
  await storeBootstrapToken(
    client,
    { token, pool, issuedAt: now, expiresAt, ...(address === undefined ? {} : { address }) },
    call,
  );
  return { id: tokenId(text), token };
}

export interface MadeToken {
  readonly token: Secret;
  readonly pool: string;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
  readonly address?: string;
}

/** Stores a token that was made before there was an API. */
export async function storeBootstrapToken(
  client: KubernetesClient,
  made: MadeToken,
  options: ApiCallOptions = {},
): Promise<void> {
  const [id = '', secret = ''] = made.token.reveal().split('.');
  await client.create(
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: secretName(id),
        namespace: systemNamespace,
        annotations: {
          [annotations.pool]: made.pool,
          [annotations.issuedAt]: made.issuedAt.toISOString(),
          ...(made.address === undefined ? {} : { [annotations.issuedToAddress]: made.address }),
        },
      },
      type: tokenSecretType,
      stringData: {
        description: `Single-use token of a machine of the pool ${made.pool}, issued by firstlight`,
        'token-id': id,
        'token-secret': secret,
        // The authenticator reads RFC 3339 without fractions of a second only.
        expiration: made.expiresAt.toISOString().replace(/\.\d+Z$/, 'Z'),
        'usage-bootstrap-authentication': 'true',
        'auth-extra-groups': bootstrapperGroup,
      },
    },
    options,
  );
}

export async function findBootstrapToken(
  client: KubernetesClient,
  id: string,
  options: ApiCallOptions = {},
): Promise<BootstrapToken | undefined> {
  const secret = await client.find(tokenReference(id), options);
  return secret === undefined ? undefined : readBootstrapToken(secret);
}

/** Undefined for a Secret that firstlight did not issue, even if it authenticates. */
export function readBootstrapToken(secret: KubernetesObject): BootstrapToken | undefined {
  const { metadata } = secret;
  const notes = metadata.annotations ?? {};
  const data = (secret['data'] ?? {}) as Readonly<Record<string, string>>;
  const text = (field: string): string => Buffer.from(data[field] ?? '', 'base64').toString('utf8');
  const pool = notes[annotations.pool];
  const id = text('token-id');
  const expiresAt = new Date(text('expiration'));
  const isOurs =
    secret['type'] === tokenSecretType && metadata.namespace === systemNamespace && metadata.name === secretName(id);
  if (!isOurs || pool === undefined || Number.isNaN(expiresAt.getTime())) return undefined;
  const address = notes[annotations.issuedToAddress];
  return {
    id,
    pool,
    expiresAt,
    ...(address === undefined ? {} : { issuedToAddress: address }),
    ...useNotes(notes),
    ...keysNotes(notes),
    resourceVersion: metadata.resourceVersion ?? '',
  };
}

function useNotes(notes: Readonly<Record<string, string>>): Pick<BootstrapToken, 'used'> {
  const by = notes[annotations.usedBy];
  const keyDigest = notes[annotations.usedByKey];
  if (by === undefined) return {};
  return {
    used: {
      by,
      requestUid: notes[annotations.usedByRequest] ?? '',
      ...(keyDigest === undefined ? {} : { keyDigest }),
      at: new Date(notes[annotations.usedAt] ?? 0),
    },
  };
}

function keysNotes(notes: Readonly<Record<string, string>>): Pick<BootstrapToken, 'keysGiven' | 'keysHeldBy'> {
  const to = notes[annotations.keysGivenTo];
  const heldBy = notes[annotations.keysHeldBy];
  return {
    ...(to === undefined ? {} : { keysGiven: { to, at: new Date(notes[annotations.keysGivenAt] ?? 0) } }),
    ...(heldBy === undefined ? {} : { keysHeldBy: heldBy }),
  };
}

export interface WholeToken extends BootstrapToken {
  /** `id.secret` */
  readonly token: Secret;
}

/** With its secret half, to compare it with a token that was shown. */
export async function findWholeToken(
  client: KubernetesClient,
  id: string,
  options: ApiCallOptions = {},
): Promise<WholeToken | undefined> {
  const secret = await client.find(tokenReference(id), options);
  return secret === undefined ? undefined : readWholeToken(secret);
}

export function readWholeToken(secret: KubernetesObject): WholeToken | undefined {
  const read = readBootstrapToken(secret);
  if (read === undefined) return undefined;
  const data = secret['data'] as Readonly<Record<string, string>>;
  const half = Buffer.from(data['token-secret'] ?? '', 'base64').toString('utf8');
  return { ...read, token: new Secret(`${read.id}.${half}`) };
}

/**
 * Records that keys were given for the token; false when it was changed or deleted meanwhile: read it again. Called
 * before the keys are sent, so that of two servers that are asked at the same moment only one gives them.
 */
export async function recordKeysGiven(
  client: KubernetesClient,
  token: BootstrapToken,
  options: ApiCallOptions & { readonly given: KeysGiven },
): Promise<boolean> {
  const { at, to } = options.given;
  const notes = { [annotations.keysGivenAt]: at.toISOString(), [annotations.keysGivenTo]: to };
  return compareAndSet(client, token, notes, options);
}

/** Called by the machine that holds them; false when the token was deleted already. */
export async function recordKeysHeld(
  client: KubernetesClient,
  id: string,
  options: ApiCallOptions & { readonly node: string },
): Promise<boolean> {
  try {
    const patch = { metadata: { annotations: { [annotations.keysHeldBy]: options.node } } };
    await client.mergePatch(tokenReference(id), patch, options);
    return true;
  } catch (error) {
    if (isError(error, kubernetesErrors.NOT_FOUND)) return false;
    throw error;
  }
}

export interface TakeTokenOptions extends ApiCallOptions {
  readonly nodeName: string;
  readonly requestUid: string;
  readonly keyDigest: string;
  readonly now: Date;
}

/**
 * Marks the token as used by this request and its key; false when it was taken or changed meanwhile: read it again.
 * Done before the approval: a crash in between never lets a token be used by two keys. The same request may take it
 * again, and so may another one of the same key.
 */
export async function takeBootstrapToken(
  client: KubernetesClient,
  token: BootstrapToken,
  options: TakeTokenOptions,
): Promise<boolean> {
  if (token.used?.requestUid === options.requestUid) return true;
  if (token.used !== undefined && token.used.keyDigest !== options.keyDigest) return false;
  const notes = {
    [annotations.usedBy]: options.nodeName,
    [annotations.usedByRequest]: options.requestUid,
    [annotations.usedByKey]: options.keyDigest,
    [annotations.usedAt]: options.now.toISOString(),
  };
  return compareAndSet(client, token, notes, options);
}

async function compareAndSet(
  client: KubernetesClient,
  { id, resourceVersion }: BootstrapToken,
  notes: Readonly<Record<string, string>>,
  options: ApiCallOptions,
): Promise<boolean> {
  try {
    await client.mergePatch(tokenReference(id), { metadata: { resourceVersion, annotations: notes } }, options);
    return true;
  } catch (error) {
    if (isError(error, kubernetesErrors.CONFLICT) || isError(error, kubernetesErrors.NOT_FOUND)) return false;
    throw error;
  }
}

/** False when it was gone already. */
export async function deleteBootstrapToken(
  client: KubernetesClient,
  id: string,
  options: ApiCallOptions = {},
): Promise<boolean> {
  return client.delete(tokenReference(id), options);
}

/** Every token that firstlight issued and that still exists. */
export async function listBootstrapTokens(
  client: KubernetesClient,
  options: ApiCallOptions = {},
): Promise<readonly BootstrapToken[]> {
  const { items } = await client.list(secretKind, tokenSelection, options);
  return items.flatMap((secret) => readBootstrapToken(secret) ?? []);
}

export const secretKind = { apiVersion: 'v1', kind: 'Secret' } as const;
export const tokenSelection = { namespace: systemNamespace, fieldSelector: `type=${tokenSecretType}` } as const;

function tokenReference(id: string): ObjectReference {
  return { ...secretKind, namespace: systemNamespace, name: secretName(id) };
}

function secretName(id: string): string {
  return `bootstrap-token-${id}`;
}
