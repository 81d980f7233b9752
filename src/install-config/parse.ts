// Text of an install-config → a complete config, or every mistake in it at once.
// Three checks in this order: the text (strict-yaml.ts), the fields (schema.ts), the rules between fields (rules.ts). A
// later check still runs after an earlier one found mistakes, on the fields without mistakes.
import { type FieldPath, fieldPathText, valueAt } from '../source-text/field-path.ts';
import { mistakesMax } from '../source-text/mistake.ts';
import { readStrictYaml, type YamlSource } from '../source-text/strict-yaml.ts';
import type { Architecture } from './architecture.ts';
import { installConfigErrors } from './errors.ts';
import { type FieldMistake, readFields, textAt } from './field-mistakes.ts';
import type { ConfigMistake } from './mistake.ts';
import type { ConfigRule } from './rule.ts';
import { applyRules } from './rules.ts';
import { type InstallConfig, installConfigSchema } from './schema.ts';

export interface ParseOptions {
  /** How messages name the file. */
  readonly file: string;
  /** Of the machine firstlight runs on: the default of both pools. */
  readonly architecture: Architecture;
}

export interface ParsedInstallConfig {
  readonly config: InstallConfig;
  /** Unusual, but no mistakes. */
  readonly warnings: readonly ConfigMistake[];
}

export type CheckedInstallConfig =
  | ({ readonly status: 'valid' } & ParsedInstallConfig)
  | {
      readonly status: 'mistaken';
      readonly mistakes: readonly ConfigMistake[];
      readonly warnings: readonly ConfigMistake[];
    };

/** Throws INSTALLCONFIG_MISTAKES with all of them; an empty text is a valid config. */
export function parseInstallConfig(text: string, options: ParseOptions): ParsedInstallConfig {
  const checked = checkInstallConfig(text, options);
  if (checked.status === 'valid') return { config: checked.config, warnings: checked.warnings };
  const { mistakes } = checked;
  throw installConfigErrors.MISTAKES({ file: options.file, mistakes, explain: explainPath(mistakes) });
}

export function defaultInstallConfig(architecture: Architecture): InstallConfig {
  return installConfigSchema(architecture).parse({});
}

const yamlRules = {
  kind: 'an install-config',
  exampleLine: 'baseDomain: example.test',
  secretWords: /pullSecret|proxy|auth|private key/i,
} as const;

export function checkInstallConfig(text: string, options: ParseOptions): CheckedInstallConfig {
  const source = readStrictYaml({ ...yamlRules, file: options.file, text });
  const place = (mistake: Unplaced): ConfigMistake => placed(mistake, source);
  const inText = source.mistakes.map((mistake) => ({ ...mistake, path: fieldPathText(mistake.path) }));
  if (source.value === undefined) return { status: 'mistaken', mistakes: inText, warnings: [] };

  const value = withNamedPlatforms(source.value);
  const { architecture } = options;
  const fields = readFields(value, architecture);
  // One mistake per field: what is wrong with its text comes first.
  const reported = new Set(inText.map(({ path }) => path));
  const inFields = fields.mistakes.filter(({ path }) => !reported.has(fieldPathText(path)));
  const suspects = [...source.mistakes.map(({ path }) => path), ...inFields.map(({ suspect }) => suspect)];
  const isWritten = (path: FieldPath): boolean => valueAt(value, path) !== undefined;
  const found = (severity: ConfigRule['severity']): readonly ConfigMistake[] => {
    if (fields.config === undefined) return [];
    const findings = applyRules({ config: fields.config, architecture, isWritten }, { severity, suspects });
    return findings.map((finding) => place({ ...finding, at: 'value', text: textAt(value, finding.path) }));
  };

  const warnings = [...found('warning')].sort(byPlace);
  const mistakes = [...inText, ...inFields.map(place), ...found('mistake')].sort(byPlace).slice(0, mistakesMax);
  if (mistakes.length > 0 || fields.config === undefined) return { status: 'mistaken', mistakes, warnings };
  return { status: 'valid', config: fields.config, warnings };
}

/** `platform: {none: }` names a platform although it says nothing about it. */
function withNamedPlatforms(value: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { platform } = value;
  if (typeof platform !== 'object' || platform === null || Array.isArray(platform)) return value;
  const named = Object.entries(platform).map(([name, settings]) => [name, settings ?? {}]);
  return { ...value, platform: Object.fromEntries(named) };
}

type Unplaced = Omit<FieldMistake, 'suspect'>;

function placed(mistake: Unplaced, source: YamlSource): ConfigMistake {
  const { path, at, text, message, allowed, suggestion } = mistake;
  return {
    ...(at === 'key' ? source.placeOfKey(path) : source.place(path)),
    path: fieldPathText(path),
    text,
    message,
    ...(allowed === undefined ? {} : { allowed }),
    ...(suggestion === undefined ? {} : { suggestion }),
  };
}

function byPlace(a: ConfigMistake, b: ConfigMistake): number {
  return a.line - b.line || a.column - b.column;
}

/** The section that `explain` is suggested for: that of the first mistake inside a known one. */
function explainPath(mistakes: readonly ConfigMistake[]): string {
  const sections = mistakes.map(({ path }) => /^\w+/.exec(path)?.[0] ?? '');
  const section = sections.find((name) => Object.hasOwn(installConfigSchema('amd64').shape, name));
  return section === undefined ? 'installconfig' : `installconfig.${section}`;
}
