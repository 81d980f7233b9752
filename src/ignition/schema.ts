// The table of the Ignition spec: every object, its fields in the order they are written, the spec that brought each
// field, and how its lists merge. Reading, unknown keys, duplicates, merging, conversion, writing and the TypeScript
// types all come from here; a field that is not in this table does not exist.
import type { SpecVersion } from './spec-version.ts';

interface Since {
  /** The first spec that has the field; before it the key is unknown. */
  readonly since: SpecVersion;
}

export interface TextField extends Since {
  readonly kind: 'text';
  readonly required: boolean;
  /** Below this spec an absent field is the empty string, which conversion upwards makes visible. */
  readonly emptyBefore?: SpecVersion;
  /** This value means the same as no value, so conversion downwards may leave it out. */
  readonly byDefault?: string;
}

export interface FlagField extends Since {
  readonly kind: 'flag';
  readonly byDefault?: boolean;
}

export interface NumberField extends Since {
  readonly kind: 'number';
  /** Zero and absent are the same (partition numbers). */
  readonly zeroIsAbsent: boolean;
}

export interface ObjectField extends Since {
  readonly kind: 'object';
  readonly required: boolean;
  readonly object: ObjectType;
  /** Below this spec `null` is a value of its own here; from it on `null` is noticed as a stray empty object. */
  readonly nullableBefore?: SpecVersion;
}

/**
 * A list of objects or of strings. With a key it is a set: equal keys are duplicates in one config and the same entry
 * when two are merged. Lists of one object that share a namespace share their keys. Without a key it only grows.
 */
export interface ListField extends Since {
  readonly kind: 'list';
  readonly item: ObjectType | 'text';
  readonly key?: (item: never) => string;
  readonly namespace?: string;
  /** In a merge, a child's entry in which this field is absent deletes the parent's entry. */
  readonly deletedWithout?: string;
}

export type Field = TextField | FlagField | NumberField | ObjectField | ListField;

/** Lists that share a namespace share their keys; any other list is a namespace of its own. */
export function namespaceOf(name: string, field: ListField): string {
  return field.namespace ?? name;
}

export interface ObjectType<Fields extends Readonly<Record<string, Field>> = Readonly<Record<string, Field>>> {
  readonly fields: Fields;
}

type Value<F> = F extends { readonly kind: 'text' }
  ? string
  : F extends { readonly kind: 'flag' }
    ? boolean
    : F extends { readonly kind: 'number' }
      ? number
      : F extends { readonly kind: 'object'; readonly object: infer T extends ObjectType }
        ? Infer<T>
        : F extends { readonly kind: 'list'; readonly item: infer T }
          ? readonly (T extends ObjectType ? Infer<T> : string)[]
          : never;

type RequiredKeys<Fields> = {
  [Name in keyof Fields]: Fields[Name] extends { readonly required: true } ? Name : never;
}[keyof Fields];

/** The TypeScript type of the objects that an entry of the table describes. */
export type Infer<T extends ObjectType> = {
  readonly [Name in RequiredKeys<T['fields']>]: Value<T['fields'][Name]>;
} & {
  readonly [Name in Exclude<keyof T['fields'], RequiredKeys<T['fields']>>]?: Value<T['fields'][Name]>;
};

const text = (extra?: Partial<Omit<TextField, 'required'>>) => ({
  kind: 'text' as const,
  required: false as const,
  since: '3.0.0' as const,
  ...extra,
});
const requiredText = { kind: 'text', required: true, since: '3.0.0' } as const;
const flag = (extra?: Partial<FlagField>) => ({ kind: 'flag' as const, since: '3.0.0' as const, ...extra });
const number = (extra?: Partial<NumberField>) => ({
  kind: 'number' as const,
  since: '3.0.0' as const,
  zeroIsAbsent: false,
  ...extra,
});
const object = <T extends ObjectType>(type: T, extra?: Partial<Pick<ObjectField, 'since' | 'nullableBefore'>>) => ({
  kind: 'object' as const,
  required: false as const,
  since: '3.0.0' as const,
  object: type,
  ...extra,
});

type ListExtra = Partial<Pick<ListField, 'since' | 'namespace' | 'deletedWithout'>>;

/** Merged entry by entry, equal keys being one entry. */
const keyed = <T extends ObjectType>(item: T, key: (item: Infer<T>) => string, extra?: ListExtra) => ({
  kind: 'list' as const,
  since: '3.0.0' as const,
  item,
  key,
  ...extra,
});
/** Merged by appending: order and repetition mean something. */
const appended = <T extends ObjectType>(item: T) => ({ kind: 'list' as const, since: '3.0.0' as const, item });
const textSet = (extra?: ListExtra) => ({
  kind: 'list' as const,
  since: '3.0.0' as const,
  item: 'text' as const,
  key: (item: string) => item,
  ...extra,
});
const textList = (extra?: ListExtra) => ({
  kind: 'list' as const,
  since: '3.0.0' as const,
  item: 'text' as const,
  ...extra,
});

const objectType = <Fields extends Readonly<Record<string, Field>>>(fields: Fields): ObjectType<Fields> => ({ fields });

// ---- Resources -----------------------------------------------------------------------------------------------------

export const httpHeader = objectType({ name: requiredText, value: text() });
export const verification = objectType({ hash: text() });

const httpHeaders = keyed(httpHeader, (header) => header.name, { since: '3.1.0', deletedWithout: 'value' });

/** Bytes from somewhere: file contents and fragments, key files. */
export const resource = objectType({
  source: text(),
  compression: text({ byDefault: '' }),
  httpHeaders,
  verification: object(verification),
});

/** A config or a certificate authority elsewhere; spec 3.0 knew only its source and hash. */
export const reference = objectType({
  source: text(),
  compression: text({ since: '3.1.0', byDefault: '' }),
  httpHeaders,
  verification: object(verification),
});

const sourceKey = (item: Infer<typeof reference>) => item.source ?? '';

// ---- ignition ------------------------------------------------------------------------------------------------------

export const configReferences = objectType({ merge: keyed(reference, sourceKey), replace: object(reference) });
export const timeouts = objectType({ httpResponseHeaders: number(), httpTotal: number() });
export const tls = objectType({ certificateAuthorities: keyed(reference, sourceKey) });
export const security = objectType({ tls: object(tls) });
export const proxy = objectType({ httpProxy: text(), httpsProxy: text(), noProxy: textSet() });

export const ignition = objectType({
  version: requiredText,
  config: object(configReferences),
  timeouts: object(timeouts),
  security: object(security),
  proxy: object(proxy, { since: '3.1.0' }),
});

// ---- storage: disks ------------------------------------------------------------------------------------------------

export const partition = objectType({
  number: number({ zeroIsAbsent: true }),
  label: text(),
  sizeMiB: number(),
  startMiB: number(),
  typeGuid: text(),
  guid: text(),
  wipePartitionEntry: flag(),
  shouldExist: flag(),
  resize: flag({ since: '3.2.0', byDefault: false }),
});

export function partitionKey(item: Infer<typeof partition>): string {
  if (item.number !== undefined && item.number !== 0) return `number:${item.number}`;
  return item.label === undefined ? '' : `label:${item.label}`;
}

export const disk = objectType({ device: requiredText, wipeTable: flag(), partitions: keyed(partition, partitionKey) });

export const raid = objectType({
  name: requiredText,
  level: text({ emptyBefore: '3.3.0' }),
  devices: textSet(),
  spares: number(),
  options: textList(),
});

export const filesystem = objectType({
  device: requiredText,
  format: text(),
  path: text(),
  label: text(),
  uuid: text(),
  wipeFilesystem: flag(),
  options: textList(),
  mountOptions: textList({ since: '3.1.0' }),
});

export const tang = objectType({
  url: requiredText,
  thumbprint: text(),
  advertisement: text({ since: '3.4.0', byDefault: '' }),
});
export const clevisCustom = objectType({
  pin: text({ emptyBefore: '3.3.0' }),
  config: text({ emptyBefore: '3.3.0' }),
  needsNetwork: flag(),
});
export const clevis = objectType({
  tang: keyed(tang, (server) => server.url),
  tpm2: flag(),
  threshold: number(),
  custom: object(clevisCustom, { nullableBefore: '3.3.0' }),
});
export const cex = objectType({ enabled: flag({ byDefault: false }) });

export const luks = objectType({
  name: requiredText,
  device: text(),
  keyFile: object(resource),
  label: text(),
  uuid: text(),
  options: textList(),
  openOptions: textSet({ since: '3.4.0' }),
  discard: flag({ since: '3.4.0', byDefault: false }),
  wipeVolume: flag(),
  clevis: object(clevis, { nullableBefore: '3.3.0' }),
  cex: object(cex, { since: '3.5.0' }),
});

// ---- storage: files ------------------------------------------------------------------------------------------------

export const owner = objectType({ id: number(), name: text() });

const node = {
  path: requiredText,
  overwrite: flag(),
  user: object(owner),
  group: object(owner),
};

export const directory = objectType({ ...node, mode: number() });
export const file = objectType({ ...node, contents: object(resource), append: appended(resource), mode: number() });
export const link = objectType({ ...node, target: text({ emptyBefore: '3.3.0' }), hard: flag() });

const pathKey = (item: { readonly path: string }) => item.path;

export const storage = objectType({
  directories: keyed(directory, pathKey, { namespace: 'node' }),
  files: keyed(file, pathKey, { namespace: 'node' }),
  links: keyed(link, pathKey, { namespace: 'node' }),
  disks: keyed(disk, (item) => item.device),
  raid: keyed(raid, (item) => item.name),
  filesystems: keyed(filesystem, (item) => item.device),
  luks: keyed(luks, (item) => item.name, { since: '3.2.0' }),
});

// ---- systemd, passwd, kernel arguments -----------------------------------------------------------------------------

const nameKey = (item: { readonly name: string }) => item.name;

export const dropin = objectType({ name: requiredText, contents: text() });
export const unit = objectType({
  name: requiredText,
  enabled: flag(),
  mask: flag(),
  contents: text(),
  dropins: keyed(dropin, nameKey),
});
export const systemd = objectType({ units: keyed(unit, nameKey) });

export const user = objectType({
  name: requiredText,
  passwordHash: text(),
  sshAuthorizedKeys: textSet(),
  uid: number(),
  gecos: text(),
  homeDir: text(),
  noCreateHome: flag(),
  primaryGroup: text(),
  groups: textSet(),
  noUserGroup: flag(),
  noLogInit: flag(),
  shell: text(),
  shouldExist: flag({ since: '3.2.0', byDefault: true }),
  system: flag(),
});
export const groupType = objectType({
  name: requiredText,
  gid: number(),
  passwordHash: text(),
  shouldExist: flag({ since: '3.2.0', byDefault: true }),
  system: flag(),
});
export const passwd = objectType({ users: keyed(user, nameKey), groups: keyed(groupType, nameKey) });

export const kernelArguments = objectType({
  shouldExist: textSet({ namespace: 'argument' }),
  shouldNotExist: textSet({ namespace: 'argument' }),
});

export const configType = objectType({
  ignition: { ...object(ignition), required: true as const },
  storage: object(storage),
  systemd: object(systemd),
  passwd: object(passwd),
  kernelArguments: object(kernelArguments, { since: '3.3.0' }),
});
