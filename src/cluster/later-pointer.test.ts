import { expect, test } from 'vitest';
import type { IgnitionConfig } from '../ignition/config.ts';
import { pointerTo } from './later-pointer.ts';

const pointer: IgnitionConfig = {
  ignition: {
    version: '3.2.0',
    config: {
      merge: [
        {
          source: 'https://api-int.demo.test:22623/config/worker',
          httpHeaders: [{ name: 'Authorization', value: 'Bearer old' }],
        },
        { source: 'https://mine.test/config/worker/extra' },
      ],
    },
  },
  storage: { files: [{ path: '/etc/mine' }] },
};

test('the pointer of a later machine asks for its own pool with its own token, and keeps what a person added', () => {
  expect(pointerTo('infra', { pointer, base: 'worker', token: 'new' })).toEqual({
    ignition: {
      version: '3.2.0',
      config: {
        merge: [
          {
            source: 'https://api-int.demo.test:22623/config/infra',
            httpHeaders: [{ name: 'Authorization', value: 'Bearer new' }],
          },
          { source: 'https://mine.test/config/worker/extra' },
        ],
      },
    },
    storage: { files: [{ path: '/etc/mine' }] },
  });
});
