// Whether a unit starts at the next boot, as `systemctl enable` decides it: by a link. The link is made here, because
// systemctl would make systemd read every unit of the machine again, for a link that matters at the next boot only.
import { unitFolder } from '../contract/machine-paths.ts';
import type { Files } from '../host/files.ts';

const wantsFolder = `${unitFolder}/multi-user.target.wants`;

function linkOf(unit: string): string {
  return `${wantsFolder}/${unit}`;
}

export async function startsAtBoot(files: Files, unit: string): Promise<boolean> {
  return (await files.facts(linkOf(unit))) !== undefined;
}

/** For a unit that lies in /etc and is wanted by multi-user.target, as all of ours are. */
export async function letStartAtBoot(files: Files, unit: string): Promise<void> {
  if (await startsAtBoot(files, unit)) return;
  await files.makeFolder(wantsFolder);
  await files.symlink(`${unitFolder}/${unit}`, linkOf(unit));
}
