// Names for the types of an Ignition config. They are inferred from the table in schema.ts, which is their only
// source; a config is a plain value, never changed in place, and a field that is not set is not there.
import type * as schema from './schema.ts';
import type { Infer } from './schema.ts';
import type { SpecVersion } from './spec-version.ts';

export interface Ignition extends Infer<typeof schema.ignition> {
  readonly version: SpecVersion;
}
/** A config of any spec this package speaks; `ignition.version` says which. The fields are those of the newest. */
export interface IgnitionConfig extends Infer<typeof schema.configType> {
  readonly ignition: Ignition;
}

export interface Resource extends Infer<typeof schema.resource> {}
export interface HttpHeader extends Infer<typeof schema.httpHeader> {}
export interface ProxySettings extends Infer<typeof schema.proxy> {}

export interface StorageSection extends Infer<typeof schema.storage> {}
export interface Owner extends Infer<typeof schema.owner> {}
export interface Directory extends Infer<typeof schema.directory> {}
export interface FileNode extends Infer<typeof schema.file> {}
export interface Link extends Infer<typeof schema.link> {}
export interface Disk extends Infer<typeof schema.disk> {}
export interface Partition extends Infer<typeof schema.partition> {}
export interface Raid extends Infer<typeof schema.raid> {}
export interface Filesystem extends Infer<typeof schema.filesystem> {}
export interface Luks extends Infer<typeof schema.luks> {}
export interface Clevis extends Infer<typeof schema.clevis> {}
export interface ClevisCustom extends Infer<typeof schema.clevisCustom> {}
export interface Tang extends Infer<typeof schema.tang> {}

export interface Systemd extends Infer<typeof schema.systemd> {}
export interface Unit extends Infer<typeof schema.unit> {}
export interface Dropin extends Infer<typeof schema.dropin> {}

export interface Passwd extends Infer<typeof schema.passwd> {}
export interface User extends Infer<typeof schema.user> {}
export interface Group extends Infer<typeof schema.groupType> {}

export interface KernelArguments extends Infer<typeof schema.kernelArguments> {}
