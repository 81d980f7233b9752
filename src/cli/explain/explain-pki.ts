// `firstlight explain pki [NAME]`: who vouches for whom, read from the table of profiles. docs/security.md holds the
// same text, and explain-pki.test.ts fails when the two differ.
import { wrapText } from '../../install-config/wrap-text.ts';
import { type LeafProfile, leafProfiles, type SignerProfile, signerProfiles } from '../../pki/profiles.ts';
import { alignColumns } from '../frame/columns.ts';
import { cliErrors } from '../frame/errors.ts';
import { nearestName } from '../frame/nearest-name.ts';
import type { CommandResult } from '../frame/verb.ts';

const width = 100;
const makers: Readonly<Record<LeafProfile['madeOn'], string>> = {
  workstation: 'made on the workstation',
  machine: 'made by the machine for itself',
  request: 'asked for by the machine',
};

export function explainPki(name: string | undefined): CommandResult {
  const signers = Object.entries<SignerProfile>(signerProfiles);
  if (name === undefined) {
    const data = signers.map(([signer, profile]) => ({ ...signerData(signer, profile), leaves: leavesOf(signer) }));
    return { data, text: signers.map(([signer, profile]) => signerText(signer, profile)).join('\n') };
  }
  const signer = signers.find(([each]) => each === name);
  if (signer !== undefined) return { data: signerData(...signer), text: signerText(...signer) };
  const leaf = leaves().find((each) => each.name === name);
  if (leaf !== undefined) return { data: leaf, text: leafText(leaf) };
  const nearest = nearestName(name, [...Object.keys(signerProfiles), ...Object.keys(leafProfiles)]);
  const reason = `there is no signer and no certificate ${name}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`;
  throw cliErrors.USAGE({ reason, command: 'firstlight explain pki' });
}

interface LeafData {
  readonly name: string;
  readonly signer: string;
  readonly purpose: string;
  readonly validityDays: number;
  readonly madeOn: LeafProfile['madeOn'];
  readonly heldBy: string;
  readonly why: string;
}

function leaves(): readonly LeafData[] {
  return Object.entries<LeafProfile>(leafProfiles).map(([name, { names: _names, ...leaf }]) => ({ name, ...leaf }));
}

function leavesOf(signer: string): readonly LeafData[] {
  return leaves().filter((leaf) => leaf.signer === signer);
}

function signerData(name: string, { validityDays, signs, heldBy, why }: SignerProfile): object {
  return { name, validityDays, signs, heldBy, why };
}

function signerText(name: string, signer: SignerProfile): string {
  const rows = leavesOf(name).map((leaf) => [leaf.name, purposeText(leaf), lifeText(leaf.validityDays), leaf.heldBy]);
  return [
    `${name}, ${lifeText(signer.validityDays)}\n`,
    fact('signs', signer.signs),
    fact('held by', signer.heldBy),
    fact('why', signer.why),
    alignColumns(rows, '    '),
  ].join('');
}

function leafText(leaf: LeafData): string {
  return [
    `${leaf.name}, ${purposeText(leaf)}, ${lifeText(leaf.validityDays)}\n`,
    fact('signer', `${leaf.signer}; ${makers[leaf.madeOn]}`),
    fact('held by', leaf.heldBy),
    fact('why', leaf.why),
  ].join('');
}

function fact(title: string, text: string): string {
  const margin = ' '.repeat(11);
  const [first = '', ...rest] = wrapText(text, { width, margin });
  return [`  ${title.padEnd(9)}${first.trimStart()}`, ...rest].map((line) => `${line}\n`).join('');
}

function purposeText({ purpose }: Pick<LeafData, 'purpose'>): string {
  return purpose.replaceAll('-', ' ');
}

function lifeText(days: number): string {
  const years = days / 365;
  if (!Number.isInteger(years)) return `${days} days`;
  return years === 1 ? '1 year' : `${years} years`;
}
