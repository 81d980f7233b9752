// What the user writes, or nothing: then the defaults, commented, so that the file itself says what may be changed.
import { parseInstallConfig } from '../install-config/parse.ts';
import { defaultInstallConfigText } from '../install-config/render.ts';
import { asset, textOf } from './asset.ts';

const path = 'install-config.yaml';

export const installConfig = asset({
  name: 'install-config',
  why: 'The only file a person has to write: everything else is derived from it.',
  neededUntil: 'the cluster is destroyed; every later change of the cluster starts from it',
  inputs: {},
  outputs: [path],
  generate: (_inputs, { architecture }) => [{ path, content: defaultInstallConfigText(architecture), mode: 0o600 }],
  read: (files, { architecture, emit }) => {
    const { config, warnings } = parseInstallConfig(textOf(files), { file: path, architecture });
    for (const { line, column, path: field, message } of warnings) {
      emit({ kind: 'notice', level: 'warn', text: `${path}:${line}:${column} ${field} ${message}` });
    }
    return config;
  },
});
