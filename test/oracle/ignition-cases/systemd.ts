// Units and drop-ins.
import type { ProblemCode } from '../../../src/ignition/problems.ts';
import type { Case } from './case.ts';
import { config } from './case.ts';

const unit = (title: string, entry: object, ...codes: ProblemCode[]) =>
  config(title, { systemd: { units: [{ name: 'a.service', ...entry }] } }, ...codes);
const contents = (title: string, text: string, ...codes: ProblemCode[]) => unit(title, { contents: text }, ...codes);

const installed = '[Unit]\nA=b\n[Install]\nWantedBy=c.target\n';
const long = 'x'.repeat(3000);
const types = 'service socket device mount automount swap target path timer snapshot slice scope'.split(' ');

export const systemdCases: readonly Case[] = [
  ...types.map((type) => unit(`a ${type}`, { name: `a.${type}` })),
  ...['.service', 'a.b.service', '../../x.service', 'a@b.service', 'a@.timer'].map((name) =>
    unit(`unit ${name}`, { name }),
  ),
  ...['', 'a', 'a.', 'service', 'a.conf', 'a.service/b', 'a.SERVICE'].map((name) =>
    unit(`unit ${name}`, { name }, 'BAD_UNIT_NAME'),
  ),
  unit('a drop-in', {
    dropins: [{ name: 'a.conf' }, { name: 'b.conf', contents: '' }, { name: '.conf', contents: '[Unit]\nA=b' }],
  }),
  unit('a drop-in of another kind', { dropins: [{ name: 'a.service' }, { name: '' }] }, 'BAD_DROPIN_NAME'),
  unit('a broken drop-in', { dropins: [{ name: 'a.conf', contents: '[Unit' }] }, 'BAD_UNIT_CONTENTS'),

  contents('empty', ''),
  contents('no section', 'just text = nothing'),
  contents('a comment only', '# [Unit'),
  contents('an open section', '[Unit', 'BAD_UNIT_CONTENTS'),
  contents('a section closed on a later line', '[Unit\n]\nA=b'),
  contents('text after a section', '[Unit] A=b', 'BAD_UNIT_CONTENTS'),
  contents('white space after a section', '[Unit] \t\r\nA=b\r\n'),
  contents('a comment after a section', '[Unit] # no', 'BAD_UNIT_CONTENTS'),
  contents('an option without =', '[Unit]\nA\nB=c', 'BAD_UNIT_CONTENTS'),
  contents('an option that ends the file', '[Unit]\nA', 'BAD_UNIT_CONTENTS'),
  contents('an option without a name', '[Unit]\n=b'),
  contents('a continued value', '[Unit]\nA=b \\\nc \\\n d\nE=f'),
  contents('a continued value ends at an empty line', '[Unit]\nA=b \\\n\nC', 'BAD_UNIT_CONTENTS'),
  contents('a backslash at the end of the file', '[Unit]\nA=b\\'),
  contents('a continued comment hides an option', '[Unit]\n# a \\\nno equals sign\nB=c'),
  contents('a comment continued with a space', '[Unit]\n; a \\ \nno equals sign\nB=c'),
  contents('a comment continued with two spaces', '[Unit]\n; a \\  \nno equals sign\nB=c', 'BAD_UNIT_CONTENTS'),
  contents('a carriage return before =', '[Unit]\nA\rB=c', 'BAD_UNIT_CONTENTS'),
  contents('a wide space is a space', '[Unit]\u2003\n\u00a0\u0085A=b'),
  contents('a byte order mark is not', '[Unit]\n\ufeffA', 'BAD_UNIT_CONTENTS'),
  contents('a long line', `[Unit]\nA=${long}\nB=c\n`, 'BAD_UNIT_CONTENTS'),
  contents('a long last line', `[Unit]\nA=${long}`, 'BAD_UNIT_CONTENTS'),
  contents('a long line that is hardly buffered', `${'#\n'.repeat(1900)}[Unit]\nA=${long}`),
  contents('a long comment', `[Unit]\n#${long}\nB=c\n`, 'BAD_UNIT_CONTENTS'),
  contents('long text before the first section', `${long}\n[Unit]\nA=b`, 'BAD_UNIT_CONTENTS'),
  contents('a line of 2047 bytes', `[Unit]\nA=${'x'.repeat(2045)}\nB=c\n${'C=d\n'.repeat(600)}`),
  contents('a line of 2048 bytes', `[Unit]\nA=${'x'.repeat(2046)}\nB=c\n${'C=d\n'.repeat(600)}`, 'BAD_UNIT_CONTENTS'),
  contents('a long file', `[Unit]\n${'Option=value\n'.repeat(5000)}`),
  contents('a long file of wide characters', `[Unit]\n${'Ä=→\n'.repeat(3000)}`),

  unit('enabled and installed', { enabled: true, contents: installed }),
  unit('enabled, never installed', { enabled: true, contents: '[Unit]\nA=b' }, 'NO_INSTALL_SECTION'),
  unit('enabled, nothing to install', { enabled: true, contents: '[Install]\n' }, 'NO_INSTALL_SECTION'),
  unit('enabled, [install] is another section', { enabled: true, contents: '[install]\nA=b\n' }, 'NO_INSTALL_SECTION'),
  unit('enabled without contents', { enabled: true }),
  unit('enabled with empty contents', { enabled: true, contents: '' }),
  unit('disabled, never installed', { enabled: false, contents: '[Unit]\nA=b' }),
  unit('enabled and unreadable', { enabled: true, contents: '[Unit' }, 'BAD_UNIT_CONTENTS'),
  config('an instance of an installable template', {
    systemd: {
      units: [
        { name: 'a@b.service', enabled: true },
        { name: 'a@.service', contents: installed },
      ],
    },
  }),
  config(
    'an instance of another template',
    {
      systemd: {
        units: [
          { name: 'a@b.service', enabled: true },
          { name: 'a@.service', contents: '[Unit]\nA=b' },
        ],
      },
    },
    'NO_INSTALL_SECTION_IN_TEMPLATE',
  ),
  config(
    'an instance of an unreadable template',
    {
      systemd: {
        units: [
          { name: 'a@b.service', enabled: true },
          { name: 'a@.service', contents: '[' },
        ],
      },
    },
    'BAD_UNIT_CONTENTS',
  ),
  config('an instance of a template elsewhere', {
    systemd: { units: [{ name: 'a@b.service', enabled: true }, { name: 'a@.service' }] },
  }),
  config('only services are instances', {
    systemd: {
      units: [
        { name: 'a@b.timer', enabled: true },
        { name: 'a@.service', contents: '[Unit]' },
      ],
    },
  }),
  config(
    'instance names with several @',
    {
      systemd: {
        units: [
          { name: 'a@b@c.service', enabled: true },
          { name: 'a@.service', contents: '[Unit]' },
        ],
      },
    },
    'NO_INSTALL_SECTION_IN_TEMPLATE',
  ),
  unit('masked', { mask: true, contents: '[Unit]' }),
];
