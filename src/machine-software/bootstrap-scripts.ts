// The scripts of the bootstrap machine, under the names that the document gives them: each calls the verb of its name,
// which explains its stage, shows the command of the original, runs the stage and validates what it wrote.
import { bootkubeStageNames, namedStages } from '../contract/bootstrap-stages.ts';
import { programFolder, programs } from '../contract/machine-paths.ts';
import type { MachineFile } from './machine-software.ts';

export const bootstrapScripts: readonly MachineFile[] = [
  script('render-all', 'stages 1 to 12: renders everything, starts nothing'),
  ...Object.entries(namedStages).map(([name, number]) =>
    script(name, `stage ${number}, ${bootkubeStageNames[number - 1]}; --show runs nothing`),
  ),
];

function script(name: string, what: string): MachineFile {
  const text = `#!/bin/sh\n# ${what}\nexec ${programs.firstlight} bootkube ${name} "$@"\n`;
  return { path: `${programFolder}/${name}.sh`, text, mode: 0o755 };
}
