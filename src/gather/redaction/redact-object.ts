// The filter for objects of the API and for files of JSON or YAML. Their structure tells more than a text does: what is
// a Secret or a kubeconfig goes as a whole, values under the names of secrets go, also those of environment variables,
// which often are passwords. Content of MachineConfigs stays only where the filter for text has nothing to remove.
import { gunzipSync } from 'node:zlib';
import { decodeDataUrl } from '../../ignition/data-url.ts';
import { redactAnywhere } from './redact-text.ts';

/** Kinds of which name and namespace are all that stays. */
const refusedKinds = new Set(['Secret', 'SecretList', 'Config', 'EncryptionConfiguration']);

const secretFields =
  /^(?:token|password|passwd|passwordHash|secret|auth|authorization|pullSecret|client-key-data|privateKey|private-key)$/i;

/** Large, and of no use to a reader. */
const droppedFields = new Set(['managedFields', 'kubectl.kubernetes.io/last-applied-configuration']);

export function redactObject(value: unknown): unknown {
  if (typeof value === 'string') return redactString(value);
  if (Array.isArray(value)) return value.map(redactObject);
  if (typeof value !== 'object' || value === null) return value;
  const object = value as Readonly<Record<string, unknown>>;
  const { kind, metadata } = object;
  if (typeof kind === 'string' && refusedKinds.has(kind) && isWhole(object)) return removedObject(kind, metadata);
  return Object.fromEntries(
    Object.entries(object)
      .filter(([name]) => !droppedFields.has(name))
      .map(([name, field]) => [name, redactField(name, field)]),
  );
}

/** A reference to an object has a kind too, and is no secret. */
function isWhole(object: Readonly<Record<string, unknown>>): boolean {
  return ['data', 'stringData', 'items', 'users', 'resources', 'immutable', 'type'].some((field) => field in object);
}

function removedObject(kind: string, metadata: unknown): unknown {
  const { name, namespace } = (metadata ?? {}) as { readonly name?: unknown; readonly namespace?: unknown };
  return { kind, metadata: { name, namespace }, removed: 'its content holds secrets' };
}

function redactField(name: string, field: unknown): unknown {
  if (typeof field === 'string' && secretFields.test(name)) return '[removed]';
  if (name === 'env' && Array.isArray(field)) return field.map(withoutValue);
  return redactObject(field);
}

/** A variable with its name alone; where its value comes from is no secret. */
function withoutValue(variable: unknown): unknown {
  const { value, ...rest } = (variable ?? {}) as Readonly<Record<string, unknown>>;
  return value === undefined ? redactObject(rest) : { ...rest, value: '[removed]' };
}

function redactString(text: string): string {
  if (text.startsWith('data:')) return redactDataUrl(text);
  return holdsObject(text) ? '[removed: an object that holds secrets]' : redactAnywhere(text);
}

function holdsObject(text: string): boolean {
  return /\bclient-key-data\b|"?kind"?: ?"?(?:Secret|EncryptionConfiguration)\b/.test(text);
}

function redactDataUrl(url: string): string {
  const decoded = contentOf(url);
  const isPlain = decoded !== undefined && !holdsObject(decoded) && redactAnywhere(decoded) === decoded;
  return isPlain ? url : `data:,[removed: ${url.length} characters]`;
}

/** Undefined where the content is no text. */
function contentOf(url: string): string | undefined {
  const decoded = decodeDataUrl(url);
  if (decoded.status !== 'decoded') return undefined;
  const { bytes } = decoded.url;
  try {
    const isZipped = bytes[0] === 0x1f && bytes[1] === 0x8b;
    return new TextDecoder('utf-8', { fatal: true }).decode(isZipped ? gunzipSync(bytes) : bytes);
  } catch {
    return undefined;
  }
}
