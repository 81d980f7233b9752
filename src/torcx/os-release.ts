// What the running OS says about itself. VERSION_ID is the version; VERSION carries a build suffix and is not used.
import { torcxErrors } from './errors.ts';
import { isOsVersion } from './os-version.ts';

export interface RunningOs {
  readonly version: string;
  readonly board: string;
  /** Set when the board was not stated and had to be derived from the CPU. */
  readonly boardGuessedFrom?: string;
}

const boardByArchitecture: Readonly<Record<string, string>> = { x64: 'amd64-usr', arm64: 'arm64-usr' };

export function parseOsRelease(path: string, text: string, architecture: string): RunningOs {
  const version = field(text, 'VERSION_ID');
  if (version === undefined) throw torcxErrors.INPUT({ path, reason: 'VERSION_ID is missing' });
  if (!isOsVersion(version)) {
    throw torcxErrors.INPUT({ path, reason: `VERSION_ID is ${JSON.stringify(version)}, which is not like 1520.5.0` });
  }
  const stated = field(text, 'COREOS_BOARD');
  if (stated !== undefined && stated !== '') return { version, board: stated };
  const board = boardByArchitecture[architecture];
  if (board === undefined) {
    throw torcxErrors.INPUT({ path, reason: `COREOS_BOARD is missing and there is no board for ${architecture}` });
  }
  return { version, board, boardGuessedFrom: architecture };
}

function field(text: string, key: string): string | undefined {
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${key}=`));
  return line
    ?.slice(key.length + 1)
    .trim()
    .replace(/^"+|"+$/g, '');
}
