// A change as this machine needs it: the plan, compared with what is on the disk. It only reads; what it returns is
// the record that is written before the first change, and has everything in it that an undo needs.
import { posix } from 'node:path';
import { bootIdFile, runtimeUnitFolder, unitFolder } from '../contract/machine-paths.ts';
import type { FileFacts } from '../host/files.ts';
import type { Host } from '../host/host.ts';
import type { AppliedConfig } from './applied-config.ts';
import { type ChangePlan, needsUser } from './change-plan.ts';
import type { ChangeRecord, FolderStep, MadeFolder, PathStep, UnitStep } from './change-record.ts';
import { configDaemonErrors } from './errors.ts';
import { compareNode } from './node-difference.ts';
import { foldersAbove, foreignUnitStates, missingOriginals, originalPath, wasUnitEnabled } from './originals.ts';
import { hasManagedUser, isOwnedBy, type OwnerOf, readOwners, readPasswordHash } from './owners.ts';
import { isEnabledState, unitStates } from './unit-states.ts';
import { managedUser, maskTarget, unitPath, type WantedNode, wantedState } from './wanted-state.ts';

export interface ApplyRequest {
  readonly from: AppliedConfig | undefined;
  readonly to: AppliedConfig;
  readonly plan: ChangePlan;
}

interface Survey {
  readonly host: Host;
  readonly ownerOf: OwnerOf;
  readonly paths: PathStep[];
  readonly folders: FolderStep[];
  readonly madeFolders: MadeFolder[];
}

export async function surveyChange(host: Host, { from, to, plan }: ApplyRequest): Promise<ChangeRecord> {
  const makesUser = needsUser(plan) && !(await hasManagedUser(host));
  const survey: Survey = { host, ownerOf: await readOwners(host), paths: [], folders: [], madeFolders: [] };
  for (const node of [...plan.put, ...(plan.beside ?? [])]) await surveyPut(survey, node, makesUser);
  for (const path of plan.leave) await surveyLeave(survey, path);
  for (const path of plan.foreign ?? []) survey.paths.push({ path, kind: 'drop', hadOld: true, isOriginal: false });
  const { paths, folders, madeFolders } = survey;
  const before = from === undefined ? undefined : wantedState(from.spec).nodes;
  const added = plan.put.filter(({ path, kind }) => before?.has(path) !== true && isWritten(survey, path, kind));
  const units = await surveyUnits(host, plan, paths);
  const isUnitFile = ({ path }: { readonly path: string }): boolean =>
    [unitFolder, runtimeUnitFolder].some((folder) => path.startsWith(`${folder}/`));
  return {
    from: from?.name,
    to,
    bootId: await readBootId(host),
    startedAt: host.clock.now().toISOString(),
    paths,
    madeFolders: madeFolders.sort((one, other) => (one.path < other.path ? -1 : 1)),
    folders,
    leave: plan.leave,
    units,
    newOriginals: await missingOriginals(
      host.files,
      added.map(({ path }) => path),
    ),
    newUnitStates: await foreignUnitStates(host, { units: new Map(plan.units.map((unit) => [unit.name, unit])) }),
    ...(await surveyPassword(host, plan)),
    makesUser,
    ...(plan.foreign === undefined ? {} : { foreign: plan.foreign }),
    needsReload: paths.some(isUnitFile) || units.length > 0,
  };
}

/** True when nothing on the machine would change but the name of its config. */
export function changesNothing({ paths, madeFolders, folders, units, password, makesUser }: ChangeRecord): boolean {
  const lists = [paths, madeFolders, folders, units];
  return lists.every((list) => list.length === 0) && password === undefined && !makesUser;
}

export async function readBootId({ files }: Host): Promise<string> {
  return (await files.readText(bootIdFile)).trim();
}

/** A unit that was not masked anyway has no original. */
function isWritten({ paths }: Survey, path: string, kind: WantedNode['kind']): boolean {
  return kind !== 'no mask' || paths.some((step) => step.path === path);
}

async function surveyPut(survey: Survey, node: WantedNode, makesUser: boolean): Promise<void> {
  const { host, ownerOf, paths } = survey;
  const { path, kind } = node;
  const facts = await host.files.facts(path);
  if (kind === 'no mask') {
    const isMasked = facts?.kind === 'link' && (await host.files.readLink(path)) === maskTarget;
    if (isMasked) paths.push({ path, kind: 'drop', hadOld: true, isOriginal: false });
    return;
  }
  if (kind === 'folder') return surveyFolder(survey, node, { facts, makesUser });
  if (facts?.kind === 'folder' || facts?.kind === 'other') refuse(path, facts.kind, kind);
  await surveyFoldersAbove(survey, path);
  const isNewOwner = makesUser && node.owner.user === managedUser;
  if (!isNewOwner && (await compareNode(host.files, node, ownerOf)) === undefined) return;
  paths.push({ path, kind: 'put', hadOld: facts !== undefined, isOriginal: false });
}

interface FolderFound {
  readonly facts: FileFacts | undefined;
  readonly makesUser: boolean;
}

async function surveyFolder(
  survey: Survey,
  node: Extract<WantedNode, { kind: 'folder' }>,
  { facts, makesUser }: FolderFound,
): Promise<void> {
  const { path, mode, owner } = node;
  if (facts === undefined) {
    // The home folder of a user that does not exist yet is made together with the user.
    if (!(makesUser && owner.user === managedUser)) await surveyFoldersAbove(survey, path);
    survey.madeFolders.push({ path, mode, owner });
    return;
  }
  if (facts.kind !== 'folder') refuse(path, facts.kind, 'folder');
  const after = { mode, ...survey.ownerOf(node) };
  if (facts.mode === mode && isOwnedBy(facts, after)) return;
  survey.folders.push({ path, before: { mode: facts.mode, uid: facts.uid, gid: facts.gid }, after });
}

/** Folders that no config names are made as Ignition makes them. */
async function surveyFoldersAbove({ host, madeFolders }: Survey, path: string): Promise<void> {
  for (const folder of foldersAbove(path)) {
    if (madeFolders.some((made) => made.path === folder)) return;
    const facts = await host.files.facts(folder);
    if (facts !== undefined) return;
    madeFolders.push({ path: folder, mode: 0o755, owner: { user: 0, group: 0 } });
  }
}

async function surveyLeave({ host, paths, folders }: Survey, path: string): Promise<void> {
  const [original, facts] = [await host.files.facts(originalPath(path)), await host.files.facts(path)];
  if (facts?.kind === 'folder' || original?.kind === 'folder') {
    // A folder without an original goes at the end, when nothing is in it.
    if (facts?.kind !== 'folder' || original?.kind !== 'folder') return;
    const [before, after] = [facts, original].map(({ mode, uid, gid }) => ({ mode, uid, gid }));
    if (before !== undefined && after !== undefined) folders.push({ path, before, after });
    return;
  }
  const hadOld = facts !== undefined;
  if (original !== undefined) {
    if ((await host.files.facts(posix.dirname(path)))?.kind !== 'folder') return;
    paths.push({ path, kind: 'put', hadOld, isOriginal: true });
  } else if (hadOld) paths.push({ path, kind: 'drop', hadOld, isOriginal: false });
}

function refuse(path: string, found: string, wanted: string): never {
  throw configDaemonErrors.IN_THE_WAY({ path, found: found === 'other' ? 'special file' : found, wanted });
}

async function surveyUnits(host: Host, plan: ChangePlan, paths: readonly PathStep[]): Promise<readonly UnitStep[]> {
  const names = [...plan.units.map(({ name }) => name), ...plan.leavingUnits];
  const states = await unitStates(host, names);
  const step = (name: string, isEnabled: boolean): readonly UnitStep[] => {
    const wasEnabled = isEnabledState(states.get(name));
    const isReplaced = paths.some(({ path }) => path === unitPath(name));
    const isSame = wasEnabled === isEnabled && !(isReplaced && wasEnabled);
    return isSame ? [] : [{ name, wasEnabled, isEnabled, isReplaced }];
  };
  const staying = plan.units.flatMap(({ name, isEnabled, isMasked, hasContents }) => {
    // Links of a masked unit count nothing, and a unit that does not exist cannot be enabled.
    if (isMasked || (!hasContents && states.get(name) === 'not-found')) return [];
    return step(name, isEnabled ?? isEnabledState(states.get(name)));
  });
  const leaving: UnitStep[] = [];
  for (const name of plan.leavingUnits) leaving.push(...step(name, (await wasUnitEnabled(host, name)) ?? false));
  return [...staying, ...leaving];
}

async function surveyPassword(host: Host, { passwordHash }: ChangePlan): Promise<Pick<ChangeRecord, 'password'>> {
  if (passwordHash === undefined) return {};
  if (passwordHash === null && !(await hasManagedUser(host))) return {};
  const [before, after] = [await readPasswordHash(host), passwordHash ?? '*'];
  return before === after ? {} : { password: { before, after } };
}
