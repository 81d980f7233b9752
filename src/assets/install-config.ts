// install-config.yaml: what the user wrote, or else the defaults with comments that say what may be changed.
import { jsonSchema, schemaFile } from '../install-config/json-schema.ts';
import { parseInstallConfig } from '../install-config/parse.ts';
import { defaultAnswers, inputOf } from '../install-config/questions.ts';
import { renderInstallConfig } from '../install-config/render.ts';
import { mistakeLines } from '../source-text/mistake.ts';
import { asset, textOf } from './asset.ts';

export const installConfigPath = 'install-config.yaml';

export const installConfig = asset({
  name: 'install-config',
  why: 'The only file a person has to write: everything else is derived from it.',
  neededUntil: 'the cluster is destroyed; every later change of the cluster starts from it',
  inputs: {},
  outputs: [installConfigPath],
  generate: (_inputs, { architecture }) => {
    const content = renderInstallConfig(inputOf(defaultAnswers(architecture), architecture), architecture);
    return [{ path: installConfigPath, content, mode: 0o600 }];
  },
  read: (files, { architecture, emit }) => {
    const { config, warnings } = parseInstallConfig(textOf(files), { file: installConfigPath, architecture });
    for (const text of mistakeLines(warnings)) emit({ kind: 'notice', level: 'warn', text });
    return config;
  },
});

export const installConfigSchemaAsset = asset({
  name: 'install-config-schema',
  why: 'Editors complete and check install-config.yaml by it while you type.',
  neededUntil: 'you no longer edit install-config.yaml',
  inputs: {},
  outputs: [schemaFile],
  generate: (_inputs, { architecture }) => {
    return [{ path: schemaFile, content: `${JSON.stringify(jsonSchema(architecture), null, 2)}\n` }];
  },
  read: (files) => textOf(files),
});
