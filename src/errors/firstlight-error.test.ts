import { describe, expect, test } from 'vitest';
import { exitCodes } from './exit-codes.ts';
import { type ErrorKind, errorTable, FirstlightError, isError } from './firstlight-error.ts';

const sample = errorTable('SAMPLE', {
  DISK_FULL: {
    message: (e: { path: string }) => `no space left while writing ${e.path}`,
    hint: (e: { path: string }) => `Free some space on the disk of ${e.path}.`,
    means: 'The disk is full.',
    exit: exitCodes.infrastructure,
  },
  LOST: { message: () => 'lost', hint: 'Look again.', means: 'Nobody knows.', exit: exitCodes.other },
});

describe('an error table', () => {
  test('gives every row a stable code made of prefix and name', () => {
    expect(sample.DISK_FULL.code).toBe('SAMPLE_DISK_FULL');
    const error = sample.DISK_FULL({ path: '/x' });
    expect(error).toBeInstanceOf(FirstlightError);
    expect(error).toMatchObject({
      code: 'SAMPLE_DISK_FULL',
      exit: 4,
      message: 'no space left while writing /x',
      hint: 'Free some space on the disk of /x.',
      details: { path: '/x' },
    });
  });

  test('chains the cause it was given', () => {
    const cause = new Error('ENOSPC');
    expect(sample.DISK_FULL({ path: '/x' }, { cause }).cause).toBe(cause);
    expect('cause' in sample.LOST({})).toBe(false);
  });

  test('recognises its own errors and nothing else', () => {
    expect(isError(sample.LOST({}), sample.LOST)).toBe(true);
    expect(isError(sample.LOST({}), sample.DISK_FULL)).toBe(false);
    expect(isError(new Error('lost'), sample.LOST)).toBe(false);
  });

  test('gives the details of a caught error the type of its row', () => {
    const error: unknown = sample.DISK_FULL({ path: '/x' });
    const pathOf = (caught: unknown): string | undefined =>
      isError(caught, sample.DISK_FULL) ? caught.details.path : undefined;
    expect(pathOf(error)).toBe('/x');
    expect(pathOf(sample.LOST({}))).toBeUndefined();
  });

  test('recognises an error by a list of rows with different details', () => {
    const kinds: readonly ErrorKind[] = [sample.DISK_FULL, sample.LOST];
    expect(kinds.filter((kind) => isError(sample.LOST({}), kind))).toEqual([sample.LOST]);
  });
});
