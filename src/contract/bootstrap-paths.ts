// The journal and the mark files of a bootstrap on its machine. rm-assets removes the secrets, but never these files.
import { serviceRecordsFolder } from './machine-paths.ts';

export const bootkubeState = '/var/lib/firstlight/bootkube';
export const bootkubeJournal = `${bootkubeState}/journal`;
/** Written before the first pod of the temporary control plane is removed. After that, none of them starts again. */
export const handoffMark = `${bootkubeState}/handoff`;
/**
 * Written by rm-assets before it deletes the first file. From then on the inputs of earlier units may be gone, so a
 * unit that is started again after a reboot does nothing and rm-assets finishes.
 */
export const removalMark = `${bootkubeState}/removal`;
/** What containers that rendered a stage have said, the last run of each: `11-ingress.log`. */
export const renderLogFolder = `${serviceRecordsFolder}/render`;
