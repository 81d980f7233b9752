// Everything that can be wrong with a config, as a table: a stable code, its severity and its message.
// An error means that a machine would refuse the config; a warning means that it would use it, perhaps not as intended.
import type { FieldPath } from '../source-text/field-path.ts';

export type Severity = 'error' | 'warning';

interface Problem {
  readonly severity: Severity;
  readonly says: string;
}

const error = (says: string): Problem => ({ severity: 'error', says });
const warning = (says: string): Problem => ({ severity: 'warning', says });

export const problems = {
  // Reading
  EMPTY: error('the config is empty'),
  BAD_JSON: error('this is not JSON'),
  WRONG_TYPE: error('wrong type of value'),
  BAD_VERSION: error('ignition.version is not a version such as 3.5.0'),
  UNKNOWN_VERSION: error('only the spec versions 3.0.0 to 3.5.0 are supported'),
  UNKNOWN_KEY: warning('unknown key, ignored'),
  NULL_OBJECT: warning('null stands where an object belongs; keys in it cannot be checked'),
  DUPLICATE: error('this entry is defined twice'),

  // Resources
  SOURCE_REQUIRED: error('a source is required here'),
  BAD_URL: error('this is not a URL'),
  BAD_SCHEME: error('URLs of this scheme cannot be fetched in this spec'),
  BAD_DATA_URL: error('this data URL cannot be decoded'),
  BAD_S3_VERSION: error('versionId is empty'),
  BAD_S3_ARN: error('this is not the ARN of an S3 object'),
  BAD_COMPRESSION: error('compression must be gzip or empty'),
  HASH_WITHOUT_SOURCE: error('a hash without a source verifies nothing'),
  BAD_HASH: error('a hash is written function-hexdigits'),
  UNKNOWN_HASH: error('this hash function is not supported in this spec'),
  WRONG_HASH_LENGTH: error('the hash has the wrong number of digits for its function'),
  HEADERS_WITHOUT_HTTP: error('HTTP headers need a source with scheme http or https'),
  HEADER_WITHOUT_NAME: error('an HTTP header needs a name'),
  HEADER_WITHOUT_VALUE: error('an HTTP header must not be empty; leave value out to delete an inherited one'),
  BAD_PROXY: error('a proxy must be an http or https URL'),
  INSECURE_PROXY: warning('requests for https resources go through a plain-text proxy'),

  // Files, directories, links
  NO_PATH: error('a path is required'),
  RELATIVE_PATH: error('the path is not absolute'),
  DIRTY_PATH: error('the path is not in its shortest form'),
  BAD_MODE: error('the mode is not between 0 and 4095 (07777)'),
  SPECIAL_MODE_BITS: warning('setuid, setgid and sticky bits have no effect before spec 3.6'),
  OVERWRITE_WITHOUT_SOURCE: error('overwrite needs contents with a source'),
  ID_AND_NAME: error('id and name exclude each other'),
  TARGET_REQUIRED: error('a link needs a target'),
  BELOW_LINK: error('the path leads through a link of this config'),
  HARD_LINK_TO_DIRECTORY: error('a hard link cannot point to a directory'),
  HARD_LINK_OWNER: warning('a hard link has the owner of its target; this is ignored'),
  PATH_OF_UNIT: error('the same path is written by a systemd unit or drop-in of this config'),

  // Disks
  DEVICE_REQUIRED: error('a device is required'),
  PARTITION_NUMBERS_COLLIDE: error('two partitions have the same number'),
  PARTITION_LABELS_COLLIDE: error('two partitions have the same label'),
  PARTITIONS_OVERLAP: error('this partition overlaps another one'),
  NUMBERLESS_WITH_ABSENT: error('a partition that should not exist requires every partition to have a number'),
  PARTITION_UNIDENTIFIED: error('a partition needs a number or a label'),
  ABSENT_WITH_PROPERTIES: error('a partition that should not exist cannot have other properties'),
  PARTITION_LABEL_TOO_LONG: error('a partition label has at most 36 bytes'),
  PARTITION_LABEL_COLON: error('a partition label cannot contain a colon'),
  BAD_GUID: error('a GUID looks like 01234567-89AB-CDEF-0123-456789ABCDEF'),
  RAID_LEVEL_REQUIRED: error('a raid level is required'),
  UNKNOWN_RAID_LEVEL: error('unknown raid level'),
  RAID_DEVICES_REQUIRED: error('an array needs devices'),
  SPARES_UNSUPPORTED: error('an array without redundancy has no spares'),
  FORMAT_REQUIRED: error('path, label, uuid, wipeFilesystem, options and mountOptions need a format'),
  UNKNOWN_FORMAT: error('filesystems of this format cannot be made in this spec'),
  LABEL_WITHOUT_FORMAT: error('a label needs a format'),
  FILESYSTEM_LABEL_TOO_LONG: error('the label is too long for this format'),
  FILESYSTEM_OVER_PARTITIONS: warning('the filesystem overwrites the partitions of this disk'),
  FILESYSTEM_WIPED: warning('the disk has wipeTable, so this filesystem will be wiped'),
  LUKS_NAME_SLASH: error('a device name cannot contain a slash'),
  LUKS_LABEL_TOO_LONG: error('a LUKS label has at most 47 bytes'),
  CUSTOM_PIN_WITH_OTHERS: error('a custom clevis pin excludes tang, tpm2 and threshold'),
  PIN_REQUIRED: error('a custom clevis configuration needs a pin'),
  UNKNOWN_PIN: error('the clevis pin must be tpm2, tang or sss'),
  PIN_CONFIG_REQUIRED: error('a custom clevis pin needs a config'),
  THUMBPRINT_REQUIRED: error('a tang server needs a thumbprint'),
  BAD_ADVERTISEMENT: error('the advertisement is not JSON'),
  CEX_WITH_CLEVIS: error('cex and clevis exclude each other'),
  CEX_WITH_KEY_FILE: error('cex and keyFile exclude each other'),

  // systemd
  BAD_UNIT_NAME: error('a unit name ends with a unit type such as .service'),
  BAD_DROPIN_NAME: error('the name of a drop-in ends with .conf'),
  BAD_UNIT_CONTENTS: error('systemd could not read this'),
  NO_INSTALL_SECTION: warning('the unit is enabled but has no [Install] section, so enabling does nothing'),
  NO_INSTALL_SECTION_IN_TEMPLATE: warning('the unit is enabled but its template has no [Install] section'),
} as const satisfies Readonly<Record<string, Problem>>;

export type ProblemCode = keyof typeof problems;

/** A problem at a place. What a rule yields is relative to the object it looked at. */
export interface ConfigFinding {
  readonly code: ProblemCode;
  readonly path: FieldPath;
  readonly detail?: string;
}

/** A problem in a text, at an offset in it. */
export interface PlacedFinding extends ConfigFinding {
  readonly offset: number;
}

export function finding(code: ProblemCode, path: FieldPath, detail?: string): ConfigFinding {
  return detail === undefined ? { code, path } : { code, path, detail };
}
