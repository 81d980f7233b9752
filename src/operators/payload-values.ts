// Values of a cluster that manifests of the release cannot know when the release is built. A manifest has `{{NAME}}` in
// their place; whoever applies it puts the value in. Only strings inside objects are looked at, never the text of a
// file.
import type { KubernetesObject } from '../kubernetes/object.ts';

/** Name → what it is. */
export const payloadValues = {
  RELEASE_IMAGE: 'The image of the release, by digest.',
  RELEASE_VERSION: 'Its version.',
  API_HOST: 'The name under which machines reach the API, without the port.',
  API_PORT: 'Its port.',
  CLUSTER_ID: 'The id of the cluster.',
  DNS_ADDRESS: 'The address of the name server, in the network of Services.',
  APPS_DOMAIN: 'Below it are the names of applications.',
  PLATFORM: 'Who makes the machines: local or none.',
} as const;
export type PayloadValue = keyof typeof payloadValues;
export type PayloadValues = Readonly<Record<PayloadValue, string>>;

/** For a manifest: the place of a value. */
export function valueOf(name: PayloadValue): string {
  return `{{${name}}}`;
}

const placeOf = /\{\{([A-Z_]+)\}\}/g;

/** The same object with every place filled. A place that the table does not have is left as it is. */
export function fillValues(object: KubernetesObject, values: PayloadValues): KubernetesObject {
  return filled(object, values) as KubernetesObject;
}

export function fillText(text: string, values: PayloadValues): string {
  return text.replace(placeOf, (place, name: string) => (name in values ? values[name as PayloadValue] : place));
}

function filled(value: unknown, values: PayloadValues): unknown {
  if (typeof value === 'string') return fillText(value, values);
  if (Array.isArray(value)) return value.map((item) => filled(item, values));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, filled(item, values)]));
}
