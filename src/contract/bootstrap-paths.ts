// Where a bootstrap keeps its memory and its marks on the machine. rm-assets removes the secrets, never these.
export const bootkubeState = '/var/lib/firstlight/bootkube';
export const bootkubeJournal = `${bootkubeState}/journal`;
/** Written before the first pod of the temporary control plane is taken down: from then on nothing is started again. */
export const handoffMark = `${bootkubeState}/handoff`;
/**
 * Written by rm-assets before it deletes the first file. From then on the inputs of every earlier link are going away, so
 * whoever is started again after a reboot has nothing left to do but to let rm-assets finish.
 */
export const removalMark = `${bootkubeState}/removal`;
