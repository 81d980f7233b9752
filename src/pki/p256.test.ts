import { expect, test } from 'vitest';
import { p256Point } from './p256.ts';

test('the point of a scalar is the one of RFC 6979, appendix A.2.5', () => {
  const scalar = Buffer.from('c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721', 'hex');
  expect(Buffer.from(p256Point(scalar)).toString('hex')).toBe(
    '04' +
      '60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6' +
      '7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299',
  );
});
