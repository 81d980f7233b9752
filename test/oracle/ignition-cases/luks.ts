// Encrypted devices and what unlocks them.
import type { ProblemCode } from '../../../src/ignition/problems.ts';
import type { Case } from './case.ts';
import { config, configOf } from './case.ts';

const luks = (title: string, entry: object, ...codes: ProblemCode[]) =>
  config(title, { storage: { luks: [{ name: 'a', device: '/d', ...entry }] } }, ...codes);

const tang = { url: 'https://a', thumbprint: 'b' };

export const luksCases: readonly Case[] = [
  luks('everything said', {
    label: 'a',
    uuid: 'b',
    options: ['c'],
    openOptions: ['d'],
    discard: true,
    wipeVolume: true,
    keyFile: { source: 'data:,k' },
  }),
  luks('a name with a slash', { name: 'a/b' }, 'LUKS_NAME_SLASH'),
  luks('the longest label', { label: 'a'.repeat(47) }),
  luks('a label too long', { label: 'a'.repeat(48) }, 'LUKS_LABEL_TOO_LONG'),
  luks('no device', { device: null }, 'DEVICE_REQUIRED'),
  luks('a relative device', { device: 'd' }, 'RELATIVE_PATH'),
  luks('tang, tpm2 and a threshold', { clevis: { tang: [tang], tpm2: true, threshold: 2 } }),
  luks('a tang server without a thumbprint', { clevis: { tang: [{ url: 'http://a' }] } }, 'THUMBPRINT_REQUIRED'),
  luks('a tang server of another kind', { clevis: { tang: [{ ...tang, url: 'ftp://a' }] } }, 'BAD_SCHEME'),
  luks('a tang server without a URL', { clevis: { tang: [{ thumbprint: 'a' }] } }, 'BAD_SCHEME'),
  luks('a tang server with a broken URL', { clevis: { tang: [{ ...tang, url: 'http://[' }] } }, 'BAD_URL'),
  luks('an advertisement', { clevis: { tang: [{ ...tang, advertisement: ' {"a":[1e3]} ' }] } }),
  luks('numbers of an advertisement that are nearly nothing or the largest', {
    clevis: { tang: [{ ...tang, advertisement: '[1e-999,-1.7976931348623158e308]' }] },
  }),
  luks(
    'a number of an advertisement that no float64 holds',
    { clevis: { tang: [{ ...tang, advertisement: '{"a":[1.7976931348623159e308]}' }] } },
    'BAD_ADVERTISEMENT',
  ),
  luks(
    'an advertisement that is not JSON',
    { clevis: { tang: [{ ...tang, advertisement: '{' }] } },
    'BAD_ADVERTISEMENT',
  ),
  ...['tpm2', 'tang', 'sss'].map((pin) =>
    luks(`custom pin ${pin}`, { clevis: { custom: { pin, config: '{}', needsNetwork: true } } }),
  ),
  luks('an unknown pin', { clevis: { custom: { pin: 'x', config: '{}' } } }, 'UNKNOWN_PIN'),
  luks('a pin without a config', { clevis: { custom: { pin: 'sss', config: '' } } }, 'PIN_CONFIG_REQUIRED'),
  luks('a config without a pin', { clevis: { custom: { config: '{}' } } }, 'PIN_REQUIRED'),
  luks('needsNetwork alone', { clevis: { custom: { needsNetwork: true } } }, 'PIN_REQUIRED', 'PIN_CONFIG_REQUIRED'),
  configOf('3.2.0', 'needsNetwork alone', {
    storage: { luks: [{ name: 'a', device: '/d', clevis: { custom: { needsNetwork: true } } }] },
  }),
  configOf(
    '3.2.0',
    'an unknown pin',
    { storage: { luks: [{ name: 'a', device: '/d', clevis: { custom: { pin: 'x', config: '{}' } } }] } },
    'UNKNOWN_PIN',
  ),
  configOf(
    '3.2.0',
    'a config without a pin',
    { storage: { luks: [{ name: 'a', device: '/d', clevis: { custom: { config: '{}' } } }] } },
    'PIN_REQUIRED',
  ),
  configOf(
    '3.2.0',
    'an empty custom pin beside tang',
    { storage: { luks: [{ name: 'a', device: '/d', clevis: { custom: {}, tang: [tang] } }] } },
    'CUSTOM_PIN_WITH_OTHERS',
  ),
  luks('an empty custom pin beside tang', { clevis: { custom: {}, tang: [tang] } }),
  luks(
    'a custom pin beside tang',
    { clevis: { custom: { pin: 'sss', config: '{}' }, tang: [tang] } },
    'CUSTOM_PIN_WITH_OTHERS',
  ),
  luks(
    'a custom pin beside tpm2',
    { clevis: { custom: { pin: 'sss', config: '{}' }, tpm2: true } },
    'CUSTOM_PIN_WITH_OTHERS',
  ),
  luks(
    'a custom pin beside a threshold',
    { clevis: { custom: { pin: 'sss', config: '{}' }, threshold: 1 } },
    'CUSTOM_PIN_WITH_OTHERS',
  ),
  luks('a custom pin beside nothing', {
    clevis: { custom: { pin: 'sss', config: '{}' }, tpm2: false, threshold: 0, tang: [] },
  }),
  luks('cex', { cex: { enabled: true } }),
  luks('cex beside clevis', { cex: { enabled: true }, clevis: { tpm2: true } }, 'CEX_WITH_CLEVIS'),
  luks(
    'cex beside a custom pin',
    { cex: { enabled: true }, clevis: { custom: { pin: 'sss', config: '{}' } } },
    'CEX_WITH_CLEVIS',
  ),
  luks('cex beside a key file', { cex: { enabled: true }, keyFile: { source: 'data:,' } }, 'CEX_WITH_KEY_FILE'),
  luks('no cex beside both', { cex: { enabled: false }, clevis: { tpm2: true }, keyFile: { source: 'data:,' } }),
];
