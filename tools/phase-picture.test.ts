import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { inPlacePhases } from '../src/contract/in-place.ts';
import { phaseTable } from '../src/in-place/phases.ts';
import { phasePicture, pictureFile } from './phase-picture.ts';

test('the picture of the phases in docs is drawn from the table as it is; node tools/phase-picture.ts draws it anew', () => {
  expect(readFileSync(pictureFile, 'utf8')).toBe(phasePicture());
});

test('the picture has every phase once, and an arrow for every way that is no failure', () => {
  const picture = phasePicture();
  for (const phase of inPlacePhases) expect(picture.split(`>${phase}</text>`)).toHaveLength(2);
  const ways = inPlacePhases.flatMap((phase) => phaseTable[phase].next).filter((next) => !isFailure(next));
  expect(picture.split('class="arrow"')).toHaveLength(ways.length + 1);
});

function isFailure(phase: (typeof inPlacePhases)[number]): boolean {
  return phaseTable[phase].isEnd === true && phase !== 'Succeeded';
}
