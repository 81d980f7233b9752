// `firstlight create install-config`: asks on a terminal, else writes the defaults. An existing file is only checked.
import { join } from 'node:path';
import { createAssets } from '../../assets/create-assets.ts';
import { installConfig, installConfigPath } from '../../assets/install-config.ts';
import { targets } from '../../assets/targets.ts';
import { masterCount, workerCount } from '../../install-config/cluster-facts.ts';
import { newInstallConfig } from './ask-install-config.ts';
import type { CommandBody } from '../frame/verb.ts';
import { shownPath } from '../frame/shown-path.ts';

export const createInstallConfig: CommandBody = async (invocation) => {
  const { host, global, signal, emit } = invocation;
  const path = join(global.dir, installConfigPath);
  const isNew = (await host.files.facts(path)) === undefined;
  if (isNew && invocation.terminal.inIsTerminal) {
    const text = await newInstallConfig(invocation);
    await host.files.makeFolder(global.dir, { mode: 0o700 });
    await host.files.write(path, text, { mode: 0o600 });
  }
  const created = await createAssets({
    host,
    dir: global.dir,
    targets: targets['install-config'],
    purpose: 'create install-config',
    // That the file "was here already" is no news when the person has just answered for it.
    emit: (event) => (isNew && event.kind === 'stage-adopted' ? undefined : emit(event)),
    signal,
  });
  const config = created.value(installConfig);
  const shown = shownPath(invocation, installConfigPath);
  const size = `${masterCount(config)} masters, ${workerCount(config)} workers`;
  const text = `${shown}\n${isNew ? 'written' : 'checked'}: ${config.metadata.name}.${config.baseDomain}, ${size}\n`;
  return { data: { path, isNew, config }, text };
};
